// One signalling websocket as an ordered queue. The handler is there before anything is awaited and messages
// are worked on strictly one after the other: clients send addTrack right behind their offer, and a message
// that nobody listens to yet is lost. What a stranger sends never throws past here: it closes the socket.
import { SignalRequest, SignalResponse } from "@livekit/protocol"
import type { RawData, WebSocket } from "ws"

export type SignalMessage = SignalRequest["message"]

/** A healthy client has one or two messages under way. */
const maxQueued = 128
/** A client that does not read; a signal message is a few kilobytes. */
const maxUnsentBytes = 1024 * 1024

/** RFC 6455, 7.4.1 */
export const closeCode = { normal: 1000, protocolError: 1003, policy: 1008, internal: 1011 } as const

export interface SignalSocketEvents {
  readonly onMessage: (message: SignalMessage) => Promise<void> | void
  /** Once, however it ended. Messages queued by then are dropped. */
  readonly onClosed: () => void
}

export class SignalSocket {
  readonly #ws: WebSocket
  readonly #events: SignalSocketEvents
  #queue: Array<SignalMessage> = []
  #working = true
  #open = true

  /** Listens at once, but works on nothing before `begin`. */
  constructor(ws: WebSocket, events: SignalSocketEvents) {
    this.#ws = ws
    this.#events = events
    ws.on("message", (data, isBinary) => this.#receive(data, isBinary))
    ws.on("error", () => ws.terminate())
    ws.on("close", () => this.#closed())
  }

  /** `first` is done before any message that came in meanwhile. */
  async begin(first: () => Promise<void> | void): Promise<void> {
    await this.#attempt(first)
    this.#working = false
    await this.#work()
  }

  send(message: SignalResponse["message"]): void {
    if (!this.#open || this.#ws.readyState !== this.#ws.OPEN) return
    if (this.#ws.bufferedAmount > maxUnsentBytes) return this.close(closeCode.policy, "not reading")
    this.#ws.send(new SignalResponse({ message }).toBinary())
  }

  close(code: number, reason: string): void {
    this.#queue = []
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.close(code, reason)
    else this.#ws.terminate()
  }

  /** For a far side that is known to be gone: waits for no closing handshake. */
  terminate(): void {
    this.#queue = []
    this.#ws.terminate()
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (!this.#open) return
    if (this.#queue.length >= maxQueued) return this.close(closeCode.policy, "too many messages")
    try {
      const request = isBinary ? SignalRequest.fromBinary(asBytes(data)) : SignalRequest.fromJsonString(asText(data))
      if (request.message.case === undefined) return
      this.#queue.push(request.message)
    } catch {
      return this.close(closeCode.protocolError, "not a signal request")
    }
    if (!this.#working) void this.#work()
  }

  async #work(): Promise<void> {
    this.#working = true
    for (;;) {
      const message = this.#queue.shift()
      if (message === undefined) break
      await this.#attempt(() => this.#events.onMessage(message))
    }
    this.#working = false
  }

  async #attempt(work: () => Promise<void> | void): Promise<void> {
    try {
      await work()
    } catch {
      this.close(closeCode.policy, "request refused")
    }
  }

  #closed(): void {
    if (!this.#open) return
    this.#open = false
    this.#queue = []
    this.#events.onClosed()
  }
}

const asBytes = (data: RawData): Uint8Array =>
  Array.isArray(data) ? Buffer.concat(data) : data instanceof ArrayBuffer ? new Uint8Array(data) : data

const asText = (data: RawData): string => Buffer.from(asBytes(data)).toString("utf8")
