import { DataPacket, RpcRequest, SipDTMF, SyncState, UserPacket } from "@livekit/protocol"
import type { DCState, RTCDataChannel } from "werift"
import { describe, expect, it } from "vitest"
import { refuseRpc, type ClientData } from "../../src/livekit/ClientData.ts"
import { DataLine } from "../../src/livekit/DataLine.ts"

const text = (value: string): DataPacket =>
  new DataPacket({
    value: { case: "user", value: new UserPacket({ topic: "client-event", payload: new TextEncoder().encode(value) }) }
  })

interface Wire {
  readonly channel: RTCDataChannel
  readonly sent: Array<DataPacket>
  readonly receive: (packet: DataPacket | Buffer | string) => void
  readonly open: () => void
}

/** As much of a data channel as the line touches. */
const makeWire = (state: DCState): Wire => {
  const sent: Array<DataPacket> = []
  const messages: Array<(message: string | Buffer) => void> = []
  const states: Array<() => void> = []
  const fake = {
    readyState: state,
    onMessage: { subscribe: (f: (message: string | Buffer) => void) => void messages.push(f) },
    stateChanged: { subscribe: (f: () => void) => void states.push(f) },
    send: (bytes: Buffer) => void sent.push(DataPacket.fromBinary(bytes))
  }
  return {
    channel: fake as unknown as RTCDataChannel,
    sent,
    receive: (packet) => {
      const message = packet instanceof DataPacket ? Buffer.from(packet.toBinary()) : packet
      for (const f of messages) f(message)
    },
    open: () => {
      fake.readyState = "open"
      for (const f of states) f()
    }
  }
}

const make = () => {
  const taken: Array<ClientData> = []
  return { line: new DataLine((data) => void taken.push(data)), taken }
}

const sync = (lastSeq: number): SyncState =>
  SyncState.fromJson({ datachannelReceiveStates: [{ publisherSid: "PA_a", lastSeq }] })

describe("DataLine", () => {
  it("keeps what is sent before the channel opens, in order and numbered", () => {
    const { line } = make()
    line.send([text("a"), text("b")])
    const wire = makeWire("connecting")
    line.use(wire.channel)
    expect(wire.sent).toEqual([])
    wire.open()
    line.send([text("c")])
    expect(wire.sent.map((p) => p.sequence)).toEqual([1, 2, 3])
  })

  it("sends nothing twice over the channel that survived a resume", () => {
    const { line } = make()
    const wire = makeWire("open")
    line.use(wire.channel)
    line.send([text("a"), text("b")])
    line.sync(sync(1))
    line.send([text("c")])
    expect(wire.sent.map((p) => p.sequence)).toEqual([1, 2, 3])
  })

  it("sends again, over another channel, what the client has not seen", () => {
    const { line } = make()
    line.use(makeWire("open").channel)
    line.send([text("a"), text("b"), text("c")])
    line.sync(sync(1))
    const second = makeWire("open")
    line.use(second.channel)
    expect(second.sent.map((p) => p.sequence)).toEqual([2, 3])
  })

  it("takes each numbered packet once and tells how far it came", () => {
    const { line, taken } = make()
    const wire = makeWire("open")
    line.listen(wire.channel)
    const first = text('{"type":"user.activity"}')
    first.sequence = 5
    wire.receive(first)
    wire.receive(first)
    expect(taken).toEqual([{ _tag: "Event", event: { type: "user.activity" } }])
    expect(line.lastSequence).toBe(5)
  })

  it.each([
    ["a type it does not know", text('{"type":"user.newer"}')],
    ["fields of the wrong kind", text('{"type":"user.message","text":7}')],
    ["text beyond the limit", text(JSON.stringify({ type: "user.message", text: "x".repeat(10_001) }))],
    ["no JSON", text("{")],
    [
      "no UTF-8",
      new DataPacket({
        value: { case: "user", value: new UserPacket({ topic: "client-event", payload: Uint8Array.of(0xff) }) }
      })
    ],
    [
      "another topic",
      new DataPacket({
        value: {
          case: "user",
          value: new UserPacket({ topic: "chat", payload: new TextEncoder().encode('{"type":"user.hangup"}') })
        }
      })
    ],
    ["a digit that is none", new DataPacket({ value: { case: "sipDtmf", value: new SipDTMF({ digit: "12" }) } })],
    ["text on a binary channel", "hello"],
    ["noise", Buffer.from([255, 1, 2, 3])],
    ["more than 16 KiB", Buffer.alloc(16 * 1024 + 1)]
  ])("passes over %s in silence", (_, message) => {
    const { line, taken } = make()
    const wire = makeWire("open")
    line.listen(wire.channel)
    wire.receive(message)
    expect(taken).toEqual([])
  })

  it("reads digits and RPC calls, and has a clear answer for the latter", () => {
    const { line, taken } = make()
    const wire = makeWire("open")
    line.listen(wire.channel)
    wire.receive(new DataPacket({ value: { case: "sipDtmf", value: new SipDTMF({ code: 11, digit: "#" }) } }))
    wire.receive(new DataPacket({ value: { case: "rpcRequest", value: new RpcRequest({ id: "7", method: "m" }) } }))
    expect(taken).toEqual([
      { _tag: "Digit", digit: "#" },
      { _tag: "Rpc", id: "7" }
    ])
    expect(refuseRpc("7").map((v) => v.case)).toEqual(["rpcAck", "rpcResponse"])
  })

  it("forgets the oldest when a client stays away, and keeps its numbers", () => {
    const { line } = make()
    for (let i = 0; i < 600; i++) line.send([text(String(i))])
    const wire = makeWire("open")
    line.use(wire.channel)
    expect(wire.sent.length).toBe(512)
    expect(wire.sent[0]?.sequence).toBe(89)
    expect(wire.sent.at(-1)?.sequence).toBe(600)
  })
})
