// 20 ms frames in, Opus RTP out. The RTP clock follows the wall clock through silence and through late ticks,
// so that a receiver sees a pause as a pause (RFC 3550, 5.1; RFC 3551, 4.1: marker on the first packet of a
// talkspurt). Silence is nearly free: a short tail so that the receiver settles, then one frame every 400 ms
// for whoever watches the line (the rhythm of Opus DTX, RFC 7587, 3.1.3).
import type { OpusEncoder } from "@parley/audio/opus/OpusEncoder"

const frameMs = 20
const unitsPerFrame = 960
const tailFrames = 10
const comfortEveryFrames = 20
/** Ticks later than this are a stall, not jitter: the clock jumps. */
const stallFrames = 2

/** An RTP packet without its payload type, which the client chose. */
export interface SpokenPacket {
  readonly sequence: number
  readonly timestamp: number
  readonly marker: boolean
  readonly payload: Buffer
}

/** One direction of sound: 20 ms frames to Opus, synchronously. */
export class OpusSender {
  readonly #encoder: OpusEncoder
  readonly #silence: Int16Array
  #startMs: number | undefined
  #index = -1
  #sequence: number
  #timestamp: number
  #quietFrames = tailFrames + comfortEveryFrames

  constructor(encoder: OpusEncoder, start: { readonly sequence: number; readonly timestamp: number }) {
    this.#encoder = encoder
    this.#silence = new Int16Array(encoder.sampleRate / 50)
    this.#sequence = start.sequence & 0xffff
    this.#timestamp = start.timestamp >>> 0
  }

  /** One tick: the packet to send now, or undefined when nothing needs to be sent. */
  next(frame: Int16Array | undefined, nowMs: number): SpokenPacket | undefined {
    this.#advance(nowMs)
    if (frame !== undefined) {
      const marker = this.#quietFrames >= tailFrames
      this.#quietFrames = 0
      return this.#packet(frame, marker)
    }
    this.#quietFrames++
    const isTail = this.#quietFrames <= tailFrames
    const isComfort = (this.#quietFrames - tailFrames) % comfortEveryFrames === 0
    return isTail || isComfort ? this.#packet(this.#silence, false) : undefined
  }

  #advance(nowMs: number): void {
    this.#startMs ??= nowMs
    const due = Math.round((nowMs - this.#startMs) / frameMs)
    const next = this.#index + 1
    const jump = due - next >= stallFrames ? due - this.#index : 1
    this.#index += jump
    this.#timestamp = (this.#timestamp + jump * unitsPerFrame) >>> 0
  }

  #packet(frame: Int16Array, marker: boolean): SpokenPacket {
    const encoded = this.#encoder.encode(frame)
    this.#sequence = (this.#sequence + 1) & 0xffff
    return {
      sequence: this.#sequence,
      timestamp: this.#timestamp,
      marker,
      payload: Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength)
    }
  }
}
