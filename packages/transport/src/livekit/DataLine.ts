// The messages of one connection: reliable packets out over whichever channel is open, client data in. A resume
// keeps the data channel, and what is on its way in it still arrives: sent again it would arrive twice, for not
// every SDK drops doubles. How far the client got matters only when it opens another channel.
import type { DataPacket, SyncState } from "@livekit/protocol"
import type { RTCDataChannel } from "werift"
import { readClientData, readPacket, type ClientData } from "./ClientData.ts"
import { ReliableInbox, ReliableOutbox } from "./Reliable.ts"

/** Turns, not a time: while this process is busy, acknowledgements wait too. Receivers may hold one back for 200 ms. */
const arrivalTurnMs = 5
const arrivalTurns = 60

/** The reliable data of one connection, both ways. */
export class DataLine {
  readonly #outbox = new ReliableOutbox()
  readonly #inbox = new ReliableInbox()
  readonly #onData: (data: ClientData) => void
  #channel: RTCDataChannel | undefined
  /** Up to where the client has our packets, as of its last resume. */
  #seenSequence = 0

  constructor(onData: (data: ClientData) => void) {
    this.#onData = onData
  }

  /** The last of the client's packets taken. */
  get lastSequence(): number {
    return this.#inbox.lastSequence
  }

  send(packets: ReadonlyArray<DataPacket>): void {
    for (const packet of packets) this.#outbox.put(packet)
    this.#flush()
  }

  listen(channel: RTCDataChannel): void {
    channel.onMessage.subscribe((message) => {
      const packet = readPacket(message)
      if (packet === undefined || !this.#inbox.accept(packet)) return
      const data = readClientData(packet)
      if (data !== undefined) this.#onData(data)
    })
  }

  /** Sends over this channel from now on. */
  use(channel: RTCDataChannel): void {
    if (this.#channel !== undefined) this.#outbox.rewind(this.#seenSequence)
    this.#channel = channel
    channel.stateChanged.subscribe(() => this.#flush())
    this.#flush()
  }

  sync({ datachannelReceiveStates }: SyncState): void {
    this.#seenSequence = Math.max(this.#seenSequence, ...datachannelReceiveStates.map(({ lastSeq }) => lastSeq))
  }

  /** Resolves once the client's transport has all that was sent, or has had its time. At once when nothing is on its way. */
  async arrived(): Promise<void> {
    for (let turn = 0; turn < arrivalTurns && this.#isOnItsWay(); turn++) {
      await new Promise((next) => setTimeout(next, arrivalTurnMs))
    }
  }

  /** Not sent for want of an open channel, not on the network yet, or not acknowledged: the last werift keeps to itself. */
  #isOnItsWay(): boolean {
    const channel = this.#channel
    if (channel === undefined || channel.readyState === "connecting") return this.#outbox.isWaiting
    return channel.readyState === "open" && (channel.bufferedAmount > 0 || channel.sctp.sctp["flightSize"] > 0)
  }

  #flush(): void {
    const channel = this.#channel
    if (channel?.readyState !== "open") return
    for (const bytes of this.#outbox.take()) channel.send(bytes)
  }
}
