// The `Leg` of a browser or app: hears Opus as 16 kHz frames, plays 24 kHz frames as Opus. It outlives its
// line: over a resume or a full reconnect the conversation keeps this leg while connections come and go.
// Everything here is synchronous on the media thread; what the far side sent before `attach` is held.
import { makeOpusDecoder, type OpusDecoder } from "@parley/audio/opus/OpusDecoder"
import { makeOpusEncoder, type OpusEncoder } from "@parley/audio/opus/OpusEncoder"
import type { ClientEvent } from "@parley/contract/ClientEvent"
import type { EndReason } from "@parley/contract/EndReason"
import { hearingRate, type Leg, type LegListener, type LegMessage } from "@parley/engine/leg/Leg"
import { randomInt } from "node:crypto"
import { RtpReceiver, type ReceiverRtp } from "../rtp/RtpReceiver.ts"
import * as SignOfLife from "./SignOfLife.ts"
import { OpusSender, type SpokenPacket } from "./OpusSender.ts"

/** What carries a leg at the moment. */
export interface LegCarrier {
  readonly sendRtp: (packet: SpokenPacket) => void
  readonly tell: (message: LegMessage) => void
}

/** How a leg came to its end, for whoever carried it. */
export type LegEnding =
  | { readonly _tag: "Closed"; readonly reason: EndReason }
  | { readonly _tag: "Ended"; readonly how: "left" | "lost" | "failed" }

/** What a leg needs of its call. */
export interface WebRtcLegOptions {
  readonly patience: SignOfLife.Patience
  /** Called once, after the listener was told; the codecs are free by then. */
  readonly onEnding: (ending: LegEnding) => void
  readonly nowMs: () => number
}

const playRate = 24_000
const maxHeldEvents = 64

/** With an Opus decoder and an encoder of its own, which `end` and `close` free. */
export const makeWebRtcLeg = async (options: WebRtcLegOptions): Promise<WebRtcLeg> => {
  const decoder = await makeOpusDecoder({ sampleRate: hearingRate })
  const encoder = await makeOpusEncoder({ sampleRate: playRate })
  return new WebRtcLeg(options, decoder, encoder)
}

/** A browser or app as the engine sees it. Synchronous. */
export class WebRtcLeg implements Leg {
  readonly playRate = playRate
  readonly #options: WebRtcLegOptions
  readonly #decoder: OpusDecoder
  readonly #encoder: OpusEncoder
  readonly #receiver: RtpReceiver
  readonly #sender: OpusSender
  #life: SignOfLife.SignOfLife
  #carrier: LegCarrier | undefined
  #listener: LegListener | undefined
  #held: Array<{ readonly event: ClientEvent } | { readonly digit: string }> = []
  #ending: LegEnding | undefined

  constructor(options: WebRtcLegOptions, decoder: OpusDecoder, encoder: OpusEncoder) {
    this.#options = options
    this.#decoder = decoder
    this.#encoder = encoder
    this.#receiver = new RtpReceiver(decoder, (samples) => this.#listener?.onFrame(samples))
    this.#sender = new OpusSender(encoder, { sequence: randomInt(65_536), timestamp: randomInt(2 ** 32) })
    this.#life = SignOfLife.begin(options.nowMs())
  }

  /** How many RTP packets came, and how many are missing. */
  get received(): { readonly packets: number; readonly lost: number } {
    return this.#receiver
  }

  // As the conversation sees it

  attach(listener: LegListener): void {
    this.#listener = listener
    const held = this.#held
    this.#held = []
    for (const one of held) {
      if ("event" in one) listener.onEvent(one.event)
      else listener.onDigit(one.digit)
    }
    if (this.#ending?._tag === "Ended") listener.onClosed(this.#ending.how)
  }

  play(frame: Int16Array | undefined): void {
    if (this.#ending !== undefined) return
    const nowMs = this.#options.nowMs()
    if (this.#carrier !== undefined) this.#receiver.tick(nowMs)
    const packet = this.#sender.next(frame, nowMs)
    if (packet !== undefined) this.#carrier?.sendRtp(packet)
  }

  tell(message: LegMessage): void {
    if (this.#ending === undefined) this.#carrier?.tell(message)
  }

  close(reason: EndReason): void {
    this.#end({ _tag: "Closed", reason })
  }

  // As the transport sees it

  /** A connection carries the leg from now on, instead of any other. */
  carry(carrier: LegCarrier): void {
    this.#carrier = carrier
    this.#life = SignOfLife.back(this.#life, this.#options.nowMs())
  }

  hear(rtp: ReceiverRtp): void {
    if (this.#ending !== undefined) return
    const nowMs = this.#options.nowMs()
    this.#life = SignOfLife.sign(this.#life, nowMs)
    this.#receiver.take(rtp, nowMs)
  }

  takeEvent(event: ClientEvent): void {
    if (this.#ending !== undefined) return
    if (this.#listener !== undefined) this.#listener.onEvent(event)
    else if (this.#held.length < maxHeldEvents) this.#held.push({ event })
  }

  takeDigit(digit: string): void {
    if (this.#ending !== undefined) return
    if (this.#listener !== undefined) this.#listener.onDigit(digit)
    else if (this.#held.length < maxHeldEvents) this.#held.push({ digit })
  }

  alive(): void {
    this.#life = SignOfLife.sign(this.#life, this.#options.nowMs())
  }

  signallingAway(): void {
    this.#life = SignOfLife.away(this.#life, this.#options.nowMs())
  }

  signallingBack(): void {
    this.#life = SignOfLife.back(this.#life, this.#options.nowMs())
  }

  /** Asked now and then by the transport's clock. */
  watch(): void {
    if (SignOfLife.isLost(this.#life, this.#options.patience, this.#options.nowMs())) this.end("lost")
  }

  /** The far side is gone. */
  end(how: "left" | "lost" | "failed"): void {
    this.#end({ _tag: "Ended", how })
  }

  #end(ending: LegEnding): void {
    if (this.#ending !== undefined) return
    this.#ending = ending
    this.#decoder.close()
    this.#encoder.close()
    this.#held = []
    this.#options.onEnding(ending)
    this.#carrier = undefined
    if (ending._tag === "Ended") this.#listener?.onClosed(ending.how)
  }
}
