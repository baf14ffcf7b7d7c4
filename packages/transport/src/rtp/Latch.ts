// Where the far side's media comes from, and where ours goes: to the address it described until something arrives, then
// to where that came from (symmetric RTP, RFC 4961), so that peers behind NAT hear us. Another source is believed only
// when the first has gone quiet: nobody takes over a call by sending louder. Pure.

/** A UDP address. */
export interface Place {
  readonly address: string
  readonly port: number
}

const quietMs = 2_000

/** Where the media of one call come from and go to. */
export class Latch {
  #target: Place
  #heardFrom: Place | undefined
  #heardAtMs = 0

  constructor(described: Place) {
    this.#target = described
  }

  get target(): Place {
    return this.#heardFrom ?? this.#target
  }

  /** A new description: its address counts until something arrives. */
  describe(place: Place): void {
    if (place.address === this.#target.address && place.port === this.#target.port) return
    this.#target = place
    this.#heardFrom = undefined
  }

  /** Whether a packet from there belongs to the call; `moved` when it now goes elsewhere than before. */
  hear(from: Place, nowMs: number): "known" | "moved" | "stranger" {
    const known = this.#heardFrom
    if (known !== undefined && (known.port !== from.port || known.address !== from.address)) {
      if (nowMs - this.#heardAtMs < quietMs) return "stranger"
    }
    const before = this.target
    this.#heardAtMs = nowMs
    if (known === undefined || known.port !== from.port || known.address !== from.address) {
      this.#heardFrom = { address: from.address, port: from.port }
    }
    return before.port === from.port && before.address === from.address ? "known" : "moved"
  }
}
