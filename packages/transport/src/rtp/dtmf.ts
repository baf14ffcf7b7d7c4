// Keys as telephone events (RFC 4733). The receiver is tolerant: it tells a key at the first packet of its event, so
// that lost ends, missing markers and repeated ends cost nothing, and takes a sender that moves the timestamp with
// every packet for one that holds the key. The sender is a row of packets, one a tick. Both pure.

const keys = "0123456789*#ABCD"

/** 0 to 15; -1 for what is no key. */
const eventOf = (key: string): number => (key.length === 1 ? keys.indexOf(key.toUpperCase()) : -1)

/** A telephone event as it came: the payload of RFC 4733, 2.3, and its RTP timestamp. */
export interface EventPacket {
  readonly timestamp: number
  readonly payload: Uint8Array
}

/** Packets of an older event, come late, are nothing new within this long; nor is a key that is held silent for longer. */
const lateMs = 400
/** Timestamp units: how far duration and a moving timestamp may drift apart. */
const driftUnits = 160

interface SeenEvent {
  readonly event: number
  readonly timestamp: number
  readonly duration: number
  readonly ended: boolean
  readonly atMs: number
}

/** Tells each key of RFC 4733 events once, however often its packets are repeated. */
export class DtmfReceiver {
  #last: SeenEvent | undefined

  /** The key that was pressed, at the first packet of its event; undefined for all others. */
  take({ payload, timestamp }: EventPacket, nowMs: number): string | undefined {
    const event = payload[0]
    if (payload.length < 4 || event === undefined || event > 15) return undefined
    const ended = ((payload[1] ?? 0) & 0x80) !== 0
    const duration = ((payload[2] ?? 0) << 8) | (payload[3] ?? 0)
    const last = this.#last
    const seen: SeenEvent = { event, timestamp, duration, ended, atMs: nowMs }
    if (last !== undefined && this.#isKnown(last, seen)) {
      const held = last.event === event
      if (held) this.#last = { ...seen, timestamp: later(last.timestamp, timestamp), ended: ended || last.ended }
      return undefined
    }
    this.#last = seen
    return keys[event]
  }

  #isKnown(last: SeenEvent, seen: SeenEvent): boolean {
    const quietMs = seen.atMs - last.atMs
    const ahead = (seen.timestamp - last.timestamp) | 0
    if (ahead === 0) return last.event === seen.event
    if (ahead < 0) return quietMs < lateMs
    // Some senders move the timestamp with every packet of one key: then it moves as the duration grows.
    const grown = seen.duration - last.duration
    return last.event === seen.event && !last.ended && quietMs < lateMs && Math.abs(ahead - grown) <= driftUnits
  }
}

const later = (a: number, b: number): number => (((b - a) | 0) > 0 ? b : a)

/** One packet of a key. */
export interface SentEvent {
  readonly payload: Uint8Array
  readonly marker: boolean
  /** Units since the beginning of this key; its packets share the timestamp of the first. */
  readonly sinceUnits: number
}

const heldTicks = 5
const endTicks = 3
const gapTicks = 4
const volume = 10
/** Keys that wait. */
const mostWaiting = 128

/** Keys as RFC 4733 events: 100 ms each, 80 ms apart, the end three times. */
export class DtmfSender {
  readonly #unitsPerTick: number
  #waiting: Array<number> = []
  #tick = 0

  constructor(unitsPerTick: number) {
    this.#unitsPerTick = unitsPerTick
  }

  get busy(): boolean {
    return this.#waiting.length > 0
  }

  /** Keys in order; what is no key is left out. */
  press(row: string): void {
    for (const key of row) {
      const event = eventOf(key)
      if (event >= 0 && this.#waiting.length < mostWaiting) this.#waiting.push(event)
    }
  }

  /** Every 20 ms while busy: the packet of this tick, or undefined in the gap between two keys. */
  next(): SentEvent | undefined {
    const event = this.#waiting[0]
    if (event === undefined) return undefined
    const tick = this.#tick++
    if (tick >= heldTicks + endTicks) {
      if (this.#tick >= heldTicks + endTicks + gapTicks) {
        this.#waiting.shift()
        this.#tick = 0
      }
      return undefined
    }
    const ended = tick >= heldTicks
    const duration = Math.min(tick + 1, heldTicks) * this.#unitsPerTick
    return {
      payload: Uint8Array.of(event, (ended ? 0x80 : 0) | volume, duration >> 8, duration & 0xff),
      marker: tick === 0,
      sinceUnits: tick * this.#unitsPerTick
    }
  }
}

const rows = [697, 770, 852, 941] as const
const columns = [1209, 1336, 1477, 1633] as const
const pad = "123A456B789C*0#D"

/** The tones of a row of keys in the voice, for a far side that takes no events: 100 ms each, 80 ms apart. */
export const tonesOf = (row: string, sampleRate: number): Int16Array => {
  const pressed = [...row].map((key) => pad.indexOf(key.toUpperCase())).filter((at) => at >= 0)
  const on = sampleRate / 10
  const each = Math.round(sampleRate * 0.18)
  const samples = new Int16Array(each * pressed.length)
  for (const [place, at] of pressed.entries()) {
    const low = rows[at >> 2] ?? 0
    const high = columns[at & 3] ?? 0
    for (let i = 0; i < on; i++) {
      const t = (2 * Math.PI * i) / sampleRate
      samples[place * each + i] = 7_000 * (Math.sin(low * t) + Math.sin(high * t))
    }
  }
  return samples
}
