// Puts RTP packets back in order (RFC 3550, 5.1) and says what is missing. A pure machine: no clock, no
// timer; the caller passes `now` and asks again with `expire`. It adds no delay to an orderly stream:
// a packet waits only behind a hole, until the hole is filled, `holdMs` has passed, or `capacity` packets wait.
// What it yields is in sequence order, each packet at most once.

/** One RTP packet (RFC 3550, 5.1). */
export interface JitterPacket {
  /** 16 bit, wraps. */
  readonly sequence: number
  /** 32 bit, in the payload's clock (48000 for Opus), wraps. */
  readonly timestamp: number
  readonly payload: Uint8Array
}

/** What the buffer yields, in sequence order. */
export type JitterOutput =
  | { readonly _tag: "Packet"; readonly packet: JitterPacket }
  /** `count` packets will not come. `next` follows in the same batch and may carry redundancy for the last of them. */
  | { readonly _tag: "Lost"; readonly count: number; readonly next: JitterPacket }
  /** The sender paused on purpose (DTX): nothing is missing but time, in timestamp units. */
  | { readonly _tag: "Pause"; readonly timestampUnits: number }

interface Waiting {
  readonly packet: JitterPacket
  readonly arrivedMs: number
}

/** Times in milliseconds. */
export interface JitterBufferOptions {
  /** How long a hole is waited for. */
  readonly holdMs?: number
  /** How many packets may wait behind a hole. */
  readonly capacity?: number
  /** Timestamp units of one packet until two neighbours have told. */
  readonly packetUnits?: number
}

/** A jump wider than this in either direction is another stream, not loss (RFC 3550, A.1: MAX_DROPOUT is larger). */
const restartDistance = 500
/** So many late packets in a row, each following the other, are a sender that started over. */
const restartRun = 4

/** One incoming stream. Times are the caller's, in milliseconds, and never go back. */
export class JitterBuffer {
  readonly #holdMs: number
  readonly #capacity: number
  #packetUnits: number
  #next: number | undefined
  #lastTimestamp = 0
  #waiting: Array<Waiting> = []
  #lateRun = 0
  #lateSequence = -1
  /** Packets that came after their place was given up, or twice. */
  late = 0
  lost = 0

  constructor(options: JitterBufferOptions = {}) {
    this.#holdMs = options.holdMs ?? 60
    this.#capacity = options.capacity ?? 8
    this.#packetUnits = options.packetUnits ?? 960
  }

  /** Forget the stream: the next packet begins a new one. */
  reset(): void {
    this.#next = undefined
    this.#waiting = []
    this.#lateRun = 0
  }

  /** Takes one packet and yields what it sets free, in order. */
  push(packet: JitterPacket, nowMs: number): ReadonlyArray<JitterOutput> {
    if (this.#next === undefined) return this.#begin(packet)
    const ahead = distance(this.#next, packet.sequence)
    if (Math.abs(ahead) > restartDistance) {
      const rest = this.#release(true)
      return [...rest, ...this.#begin(packet)]
    }
    if (ahead < 0) return this.#tooLate(packet)
    this.#lateRun = 0
    if (ahead === 0 && this.#waiting.length === 0) {
      const out: Array<JitterOutput> = []
      this.#emit(packet, out)
      return out
    }
    if (!this.#insert(packet, nowMs)) return nothing
    return this.#release(false, nowMs)
  }

  /** Yields what has waited too long behind a hole. Cheap when nothing waits. */
  expire(nowMs: number): ReadonlyArray<JitterOutput> {
    return this.#waiting.length === 0 ? nothing : this.#release(false, nowMs)
  }

  /** The decoder knows how long a packet really was, in timestamp units. */
  tellPacketUnits(units: number): void {
    if (units > 0) this.#packetUnits = units
  }

  #begin(packet: JitterPacket): ReadonlyArray<JitterOutput> {
    this.reset()
    this.#next = (packet.sequence + 1) & 0xffff
    this.#lastTimestamp = packet.timestamp
    return [{ _tag: "Packet", packet }]
  }

  #tooLate(packet: JitterPacket): ReadonlyArray<JitterOutput> {
    this.late++
    this.#lateRun = distance(this.#lateSequence, packet.sequence) === 1 ? this.#lateRun + 1 : 1
    this.#lateSequence = packet.sequence
    return this.#lateRun >= restartRun ? this.#begin(packet) : nothing
  }

  /** False for a duplicate. */
  #insert(packet: JitterPacket, arrivedMs: number): boolean {
    let at = this.#waiting.length
    while (at > 0) {
      const gap = distance(this.#waiting[at - 1]?.packet.sequence ?? 0, packet.sequence)
      if (gap === 0) {
        this.late++
        return false
      }
      if (gap > 0) break
      at--
    }
    this.#waiting.splice(at, 0, { packet, arrivedMs })
    return true
  }

  #release(all: boolean, nowMs = 0): ReadonlyArray<JitterOutput> {
    const out: Array<JitterOutput> = []
    for (;;) {
      const head = this.#waiting[0]?.packet
      if (head === undefined || this.#next === undefined) break
      const missing = distance(this.#next, head.sequence)
      if (missing > 0) {
        const knownSince = this.#waiting.reduce((first, w) => Math.min(first, w.arrivedMs), nowMs)
        const patient = nowMs - knownSince < this.#holdMs && this.#waiting.length <= this.#capacity
        if (!all && patient) break
        this.lost += missing
        out.push({ _tag: "Lost", count: missing, next: head })
        this.#next = head.sequence
        this.#lastTimestamp = (head.timestamp - this.#packetUnits) >>> 0
      }
      this.#waiting.shift()
      this.#emit(head, out)
    }
    return out
  }

  #emit(packet: JitterPacket, out: Array<JitterOutput>): void {
    const advance = (packet.timestamp - this.#lastTimestamp) | 0
    if (advance > this.#packetUnits) out.push({ _tag: "Pause", timestampUnits: advance - this.#packetUnits })
    out.push({ _tag: "Packet", packet })
    this.#lastTimestamp = packet.timestamp
    this.#next = (packet.sequence + 1) & 0xffff
  }
}

const nothing: ReadonlyArray<JitterOutput> = []

/** Signed distance from `a` to `b` on the 16-bit circle. */
const distance = (a: number, b: number): number => (((b - a) & 0xffff) << 16) >> 16
