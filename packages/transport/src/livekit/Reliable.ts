// The reliable data channel across resumes. Outgoing packets are numbered and remembered until the client says
// how far it got; incoming ones are taken once each. Both sides of the LiveKit protocol do the same, so a
// dropped network neither loses nor doubles a message. A pure bookkeeper: bytes in, bytes out.
import { DataPacket_Kind, type DataPacket } from "@livekit/protocol"

/** What is remembered for a client that is away; older packets are given up. */
const maxRemembered = 512
const maxRememberedBytes = 1024 * 1024

interface Sent {
  readonly sequence: number
  readonly bytes: Buffer
}

/** Numbers what we send, and keeps up to 512 packets or 1 MiB for a client that is away. */
export class ReliableOutbox {
  #sequence = 0
  #sent: Array<Sent> = []
  #bytes = 0
  /** Everything up to here has been handed to an open channel. */
  #handed = 0

  /** Numbers the packet and remembers it. `take` hands it out once a channel is open. */
  put(packet: DataPacket): void {
    packet.kind = DataPacket_Kind.RELIABLE
    packet.sequence = ++this.#sequence
    const bytes = Buffer.from(packet.toBinary())
    this.#sent.push({ sequence: this.#sequence, bytes })
    this.#bytes += bytes.length
    while (this.#sent.length > maxRemembered || this.#bytes > maxRememberedBytes) {
      this.#bytes -= this.#sent.shift()?.bytes.length ?? 0
    }
  }

  /** Something has not been handed to the channel yet. */
  get isWaiting(): boolean {
    return this.#handed < this.#sequence
  }

  /** What has not been handed to the channel yet, in order. */
  take(): ReadonlyArray<Buffer> {
    const fresh = this.#sent.filter((sent) => sent.sequence > this.#handed)
    this.#handed = this.#sequence
    return fresh.map((sent) => sent.bytes)
  }

  /** The client has received everything up to `lastSequence`: the rest goes out again. */
  rewind(lastSequence: number): void {
    this.#sent = this.#sent.filter((sent) => sent.sequence > lastSequence)
    this.#bytes = this.#sent.reduce((sum, sent) => sum + sent.bytes.length, 0)
    this.#handed = Math.min(this.#handed, lastSequence)
  }
}

/** Takes each numbered packet of a client once. */
export class ReliableInbox {
  /** The last number taken; told to a resuming client, which sends the rest again. */
  lastSequence = 0

  /** Whether the packet is new. Packets without a number (older clients) always are. */
  accept(packet: DataPacket): boolean {
    if (packet.sequence === 0) return true
    if (packet.sequence <= this.lastSequence) return false
    this.lastSequence = packet.sequence
    return true
  }
}
