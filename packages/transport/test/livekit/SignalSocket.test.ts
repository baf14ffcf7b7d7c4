import { SignalRequest } from "@livekit/protocol"
import { Effect } from "effect"
import { EventEmitter } from "node:events"
import { describe, expect, it } from "vitest"
import type { WebSocket } from "ws"
import { SignalSocket, type SignalMessage } from "../../src/livekit/SignalSocket.ts"

class FakeWebSocket extends EventEmitter {
  readonly OPEN = 1
  readyState = 1
  bufferedAmount = 0
  readonly closes: Array<number> = []
  readonly sent: Array<Uint8Array> = []
  send(bytes: Uint8Array): void {
    this.sent.push(bytes)
  }
  close(code: number): void {
    this.closes.push(code)
    this.readyState = 3
    this.emit("close")
  }
  terminate(): void {
    this.close(1006)
  }
  say(message: SignalMessage): void {
    this.emit("message", Buffer.from(new SignalRequest({ message }).toBinary()), true)
  }
}

const setUp = (work: (message: SignalMessage) => Promise<void> | void = () => undefined) => {
  const ws = new FakeWebSocket()
  const log: Array<string> = []
  const socket = new SignalSocket(ws as unknown as WebSocket, () => void log.push("closed"))
  const handle = (message: SignalMessage) =>
    Effect.promise(async () => {
      log.push(`begin ${message.case}`)
      await work(message)
      log.push(`end ${message.case}`)
    })
  /** Resolves when `first` is done. */
  const begin = (first: () => Promise<void> | void) =>
    new Promise<void>((begun) => {
      const all = Effect.promise(async () => first()).pipe(Effect.ensuring(Effect.sync(begun)))
      Effect.runFork(socket.serve(all, handle))
    })
  return { ws, socket, log, begin }
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 5))

describe("SignalSocket", () => {
  it("loses nothing that arrives while the join is worked on, and keeps the order", async () => {
    const { begin, log, ws } = setUp(() => turn() as Promise<void>)
    const joining = Promise.withResolvers<void>()
    const begun = begin(async () => {
      log.push("join")
      await joining.promise
      log.push("joined")
    })
    ws.say({ case: "ping", value: 1n })
    ws.say({ case: "mute", value: SignalRequest.fromJson({ mute: { sid: "TR_1" } }).message.value as never })
    await turn()
    expect(log).toEqual(["join"])
    joining.resolve()
    await begun
    while (!log.includes("end mute")) await turn()
    ws.say({ case: "ping", value: 2n })
    await turn()
    await turn()
    expect(log).toEqual([
      "join",
      "joined",
      "begin ping",
      "end ping",
      "begin mute",
      "end mute",
      "begin ping",
      "end ping"
    ])
  })

  it("takes JSON as well as protobuf", async () => {
    const { begin, log, ws } = setUp()
    await begin(() => undefined)
    ws.emit("message", Buffer.from('{"ping":"1"}'), false)
    await turn()
    expect(log).toEqual(["begin ping", "end ping"])
  })

  it.each([
    ["noise", Buffer.from([255, 255, 255, 255]), true],
    ["broken JSON", Buffer.from("{"), false]
  ])("closes on %s and throws nothing", async (_, data, isBinary) => {
    const { begin, log, ws } = setUp()
    await begin(() => undefined)
    ws.emit("message", data, isBinary)
    expect(ws.closes).toEqual([1003])
    expect(log).toEqual(["closed"])
  })

  it("closes on a request that cannot be carried out, and works on nothing after it", async () => {
    const { begin, log, ws } = setUp(() => Promise.reject(new Error("no")))
    await begin(() => undefined)
    ws.say({ case: "ping", value: 1n })
    ws.say({ case: "ping", value: 2n })
    await turn()
    expect(ws.closes).toEqual([1008])
    expect(log).toEqual(["begin ping", "closed"])
  })

  it("closes on a flood", async () => {
    const { begin, ws } = setUp(() => new Promise(() => undefined))
    await begin(() => undefined)
    for (let i = 0; i < 200; i++) ws.say({ case: "ping", value: 1n })
    expect(ws.closes).toEqual([1008])
  })

  it("closes on a client that does not read", () => {
    const { socket, ws } = setUp()
    ws.bufferedAmount = 2 ** 20 + 1
    socket.send({ case: "pong", value: 1n })
    expect(ws.closes).toEqual([1008])
    expect(ws.sent).toEqual([])
  })
})
