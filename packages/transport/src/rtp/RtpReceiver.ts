// RTP in, 20 ms frames of 16 kHz out, on the thread and in the call that received the packet. Puts packets in
// order, repairs what was lost, and keeps the listener's clock going: a client that stops sending (mute, DTX,
// a lost network) is heard as silence, 50 frames a second, or a voice detector would never see the end of a
// sentence.
import { JitterBuffer, type JitterOutput } from "@parley/audio/JitterBuffer"

/** Samples of a 20 ms frame at 16 kHz. */
const frameSamples = 320
const frameMs = 20
/** Nothing heard for this long: silence is filled in, first for the time already gone. */
const fillAfterMs = 100
/** What is made up in one go, be it concealment or silence; a longer hole simply was silent. */
const maxMadeUpFrames = 5
/** A second stream is listened to when the first has been quiet for so long (a republished microphone). */
const handoverMs = 200

/** An RTP packet as far as a receiver needs it. */
export interface ReceiverRtp {
  readonly ssrc: number
  readonly sequence: number
  readonly timestamp: number
  readonly payload: Uint8Array
}

/** Payloads to 16 kHz; what is lost is guessed. */
export interface VoiceDecoder {
  /** Undefined when it is no such payload. */
  readonly decode: (payload: Uint8Array) => Int16Array | undefined
  /** The frame before `next`. */
  readonly recover: (next: Uint8Array, samples: number) => Int16Array
  readonly conceal: (samples: number) => Int16Array
}

/** One direction of sound: packets in, 320-sample frames at 16 kHz out, synchronously. */
export class RtpReceiver {
  readonly #decoder: VoiceDecoder
  readonly #unitsPerFrame: number
  readonly #onFrame: (samples: Int16Array) => void
  readonly #jitter: JitterBuffer
  readonly #frame = new Int16Array(frameSamples)
  readonly #silence = new Int16Array(frameSamples)
  #fill = 0
  #ssrc: number | undefined
  #lastPacketMs = 0
  /** Frames of silence given since the last packet. */
  #madeUp = 0
  #packetSamples = frameSamples
  packets = 0

  /** @param clockRate of the RTP timestamps, in Hz: 48000 for Opus, 8000 for G.711. */
  constructor(decoder: VoiceDecoder, onFrame: (samples: Int16Array) => void, clockRate = 48_000) {
    this.#decoder = decoder
    this.#onFrame = onFrame
    this.#unitsPerFrame = clockRate / 50
    this.#jitter = new JitterBuffer({ packetUnits: this.#unitsPerFrame })
  }

  get lost(): number {
    return this.#jitter.lost
  }

  take(rtp: ReceiverRtp, nowMs: number): void {
    if (rtp.payload.byteLength === 0) return
    if (rtp.ssrc !== this.#ssrc) {
      if (this.#ssrc !== undefined && nowMs - this.#lastPacketMs < handoverMs) return
      this.#ssrc = rtp.ssrc
      this.#jitter.reset()
    }
    this.packets++
    this.#lastPacketMs = nowMs
    this.#play(this.#jitter.push(rtp, nowMs))
  }

  /** Every 20 ms: gives up on holes that are too old, and fills the quiet. */
  tick(nowMs: number): void {
    if (this.#ssrc === undefined) return
    this.#play(this.#jitter.expire(nowMs))
    const quietMs = nowMs - this.#lastPacketMs
    if (quietMs < fillAfterMs) return
    const due = Math.floor(quietMs / frameMs)
    for (let i = Math.min(due - this.#madeUp, maxMadeUpFrames); i > 0; i--) this.#onFrame(this.#silence)
    this.#madeUp = Math.max(this.#madeUp, due)
  }

  #play(outputs: ReadonlyArray<JitterOutput>): void {
    for (const output of outputs) {
      if (output._tag === "Packet") {
        const samples = this.#decoder.decode(output.packet.payload)
        this.#madeUp = 0
        if (samples === undefined) continue
        this.#packetSamples = samples.length
        this.#jitter.tellPacketUnits((samples.length * this.#unitsPerFrame) / frameSamples)
        this.#cut(samples)
      } else if (output._tag === "Lost") {
        const missing = this.#stillMissing(output.count)
        for (let i = 1; i <= missing; i++) {
          const isLast = i === missing
          this.#cut(
            isLast
              ? this.#decoder.recover(output.next.payload, this.#packetSamples)
              : this.#decoder.conceal(this.#packetSamples)
          )
        }
      } else {
        for (let i = this.#stillMissing(Math.round(output.timestampUnits / this.#unitsPerFrame)); i > 0; i--) {
          this.#onFrame(this.#silence)
        }
      }
    }
  }

  /** Of `count` missing frames, those that time has not filled already. */
  #stillMissing(count: number): number {
    const filled = Math.min(count, this.#madeUp)
    this.#madeUp -= filled
    return Math.min(count - filled, maxMadeUpFrames)
  }

  #cut(samples: Int16Array): void {
    if (this.#fill === 0 && samples.length === frameSamples) {
      this.#onFrame(samples)
      return
    }
    let at = 0
    while (at < samples.length) {
      const take = Math.min(frameSamples - this.#fill, samples.length - at)
      this.#frame.set(samples.subarray(at, at + take), this.#fill)
      this.#fill += take
      at += take
      if (this.#fill === frameSamples) {
        this.#fill = 0
        this.#onFrame(this.#frame)
      }
    }
  }
}
