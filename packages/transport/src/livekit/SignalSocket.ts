// One signalling websocket as an ordered queue. It listens before anything is awaited, and messages are worked on strictly
// one after the other: clients send addTrack right behind their offer, and a message that nobody listens to yet is lost.
// What a stranger sends never throws past here: it closes the socket.
import { SignalRequest, SignalResponse } from "@livekit/protocol"
import { Effect, Queue } from "effect"
import type { RawData, WebSocket } from "ws"

/** A request of a client, as LiveKit's protocol names it. */
export type SignalMessage = SignalRequest["message"]

/** A healthy client has one or two messages under way. */
const maxQueued = 128
/** A client that does not read; a signal message is a few kilobytes. */
const maxUnsentBytes = 1024 * 1024

/** RFC 6455, 7.4.1 */
export const closeCode = { normal: 1000, protocolError: 1003, policy: 1008, internal: 1011 } as const

/** Sends and receives for one websocket until it closes, however that comes about. */
export class SignalSocket {
  readonly #ws: WebSocket
  readonly #requests = Effect.runSync(Queue.dropping<SignalMessage>(maxQueued))

  /** Listens at once; what comes waits for `serve`. `onClosed` is called once, however it ended. */
  constructor(ws: WebSocket, onClosed: () => void) {
    this.#ws = ws
    ws.on("message", (data, isBinary) => this.#receive(data, isBinary))
    ws.on("error", () => ws.terminate())
    ws.once("close", () => {
      Queue.shutdownUnsafe(this.#requests)
      onClosed()
    })
  }

  /**
   * Does `first`, then works on one message after the other, until the socket closes; what waits then is dropped. What
   * fails closes the socket.
   */
  serve(first: Effect.Effect<void>, work: (message: SignalMessage) => Effect.Effect<void>): Effect.Effect<void> {
    const attempt = (effect: Effect.Effect<void>): Effect.Effect<void> =>
      Effect.catchCause(effect, () => Effect.sync(() => this.close(closeCode.policy, "request refused")))
    const next = Effect.flatMap(Queue.take(this.#requests), (message) => attempt(Effect.suspend(() => work(message))))
    return Effect.andThen(attempt(first), Effect.forever(next))
  }

  send(message: SignalResponse["message"]): void {
    if (this.#ws.readyState !== this.#ws.OPEN) return
    if (this.#ws.bufferedAmount > maxUnsentBytes) return this.close(closeCode.policy, "not reading")
    this.#ws.send(new SignalResponse({ message }).toBinary())
  }

  close(code: number, reason: string): void {
    Queue.shutdownUnsafe(this.#requests)
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.close(code, reason)
    else this.#ws.terminate()
  }

  /** For a far side that is known to be gone: waits for no closing handshake. */
  terminate(): void {
    Queue.shutdownUnsafe(this.#requests)
    this.#ws.terminate()
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#requests.state._tag === "Done") return
    try {
      const request = isBinary ? SignalRequest.fromBinary(asBytes(data)) : SignalRequest.fromJsonString(asText(data))
      if (request.message.case === undefined) return
      if (!Queue.offerUnsafe(this.#requests, request.message)) this.close(closeCode.policy, "too many messages")
    } catch {
      this.close(closeCode.protocolError, "not a signal request")
    }
  }
}

const asBytes = (data: RawData): Uint8Array =>
  Array.isArray(data) ? Buffer.concat(data) : data instanceof ArrayBuffer ? new Uint8Array(data) : data

const asText = (data: RawData): string => Buffer.from(asBytes(data)).toString("utf8")
