// Where the far side's media comes from, and where ours goes (symmetric RTP, RFC 4961). What the signalling described is
// believed first. Another source is believed only after several packets of one stream in their order, while those we
// believed more are silent: a peer behind NAT is found, and nobody takes over a call by sending louder, or presses its
// keys. Nothing is sent to an address that may not be reached. Pure.

/** A UDP address. */
export interface Place {
  readonly address: string
  readonly port: number
}

/** What tells one stream of packets from another (RFC 3550, 5.1). */
export interface StreamPacket {
  readonly ssrc: number
  readonly sequence: number
}

/** Whose media it is, and what limits where it goes. */
export interface LatchOptions {
  /** The address the signalling of the far side comes from: its media comes from there more likely than from elsewhere. */
  readonly peer: string
  readonly mayReach: (address: string) => boolean
}

/** In a row and in order, from one place, under one SSRC: 100 ms of sound. */
const provingPackets = 5
/** Silence of the stream we listen to before one that is no more likely takes its place. */
const quietMs = 2_000
/** The same, for a new SSRC at the same place. */
const handoverMs = 200
/** A place that was described has this long to begin before one elsewhere is believed. */
const beginMs = 1_000
const mostCandidates = 8

interface Stream {
  readonly place: Place
  readonly ssrc: number
  readonly rank: number
  heardAtMs: number
}

interface Candidate {
  sequence: number
  packets: number
  heardAtMs: number
}

/** Where the media of one call come from and go to. */
export class Latch {
  readonly #options: LatchOptions
  readonly #candidates = new Map<string, Candidate>()
  #described: Place
  #describedAtMs: number
  #isFirst = true
  #stream: Stream | undefined

  constructor(described: Place, nowMs: number, options: LatchOptions) {
    this.#options = options
    this.#described = described
    this.#describedAtMs = nowMs
  }

  /** Undefined while there is nowhere to send to. */
  get target(): Place | undefined {
    if (this.#stream !== undefined) return this.#stream.place
    return this.#isReachable ? this.#described : undefined
  }

  /** A new description: it counts until something arrives. */
  describe(place: Place, nowMs: number): void {
    if (isSame(place, this.#described)) return
    this.#described = place
    this.#describedAtMs = nowMs
    this.#isFirst = false
    this.#stream = undefined
    this.#candidates.clear()
  }

  /** Whether a packet from there belongs to the call; `began`: as the first of a stream. */
  hear(from: Place, packet: StreamPacket, nowMs: number): "known" | "began" | "stranger" {
    const known = this.#stream
    if (known !== undefined && known.ssrc === packet.ssrc && isSame(known.place, from)) {
      known.heardAtMs = nowMs
      return "known"
    }
    if (!this.#options.mayReach(from.address)) return "stranger"
    const rank = this.#rankOf(from)
    const isAtOnce = known === undefined && rank === 0
    if (!isAtOnce && !(this.#isProven(from, packet, rank, nowMs) && this.#mayBegin(from, rank, nowMs)))
      return "stranger"
    this.#candidates.clear()
    const place = { address: from.address, port: from.port }
    this.#stream = { place, ssrc: packet.ssrc, rank, heardAtMs: nowMs }
    return "began"
  }

  /** Whether a report from this address is one of the far side's. */
  isFarSide(address: string): boolean {
    return address === this.#described.address || address === this.#stream?.place.address
  }

  get #isReachable(): boolean {
    return this.#options.mayReach(this.#described.address)
  }

  /** How unlikely a place is: 0 as described, 1 at a known address of the far side, 2 anywhere else. */
  #rankOf(place: Place): number {
    if (isSame(place, this.#described)) return 0
    return place.address === this.#described.address || place.address === this.#options.peer ? 1 : 2
  }

  #mayBegin(place: Place, rank: number, nowMs: number): boolean {
    const known = this.#stream
    if (known !== undefined) {
      const silentMs = nowMs - known.heardAtMs
      return isSame(known.place, place) ? silentMs >= handoverMs : rank < known.rank || silentMs >= quietMs
    }
    // Behind NAT, and found there for the first time: the caller waits for our sound.
    const isExpected = rank === 1 && (this.#isFirst || !this.#isReachable)
    return isExpected || nowMs - this.#describedAtMs >= beginMs
  }

  #isProven(from: Place, { sequence, ssrc }: StreamPacket, rank: number, nowMs: number): boolean {
    const key = `${from.address} ${from.port} ${ssrc}`
    const candidate = this.#candidates.get(key)
    if (candidate === undefined) {
      this.#makeRoom(rank, nowMs)
      if (this.#candidates.size < mostCandidates) this.#candidates.set(key, { sequence, packets: 1, heardAtMs: nowMs })
      return false
    }
    candidate.packets = sequence === ((candidate.sequence + 1) & 0xffff) ? candidate.packets + 1 : 1
    candidate.sequence = sequence
    candidate.heardAtMs = nowMs
    return candidate.packets >= provingPackets
  }

  /** Strangers without number must not keep out the far side. */
  #makeRoom(rank: number, nowMs: number): void {
    if (this.#candidates.size < mostCandidates) return
    if (rank < 2) return this.#candidates.clear()
    for (const [key, { heardAtMs }] of this.#candidates) {
      if (nowMs - heardAtMs >= quietMs) this.#candidates.delete(key)
    }
  }
}

const isSame = (a: Place, b: Place): boolean => a.port === b.port && a.address === b.address
