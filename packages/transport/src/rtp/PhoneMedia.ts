// The media of one telephone call: a pair of ports, what was agreed about them, and the sound that crosses. Everything
// after the agreement is synchronous on the media thread. Packets come from anywhere: what is not understood, not
// authentic or from a stranger is dropped.
import { Resampler } from "@parley/audio/Resampler"
import type { RemoteInfo } from "node:dgram"
import { randomInt } from "node:crypto"
import { DtmfReceiver } from "./dtmf.ts"
import { RtpReceiver } from "./RtpReceiver.ts"
import { Latch, type Place } from "./Latch.ts"
import type { Media, MediaOptions, MediaSound } from "./Media.ts"
import { type Agreed, agree, mayHear, maySend, offered, plainProtocol, secureProtocol, suite } from "./negotiation.ts"
import { openPorts, type RtpPorts } from "./RtpPorts.ts"
import { isRtcp, readRtp, type RtpRead } from "./rtpPacket.ts"
import { type MediaDirection, readSdp, type SdpKey, type SdpMedia, writeSdp } from "./sdp.ts"
import { makeKey, makeSrtp, type Srtp } from "./Srtp.ts"
import { RtpSender } from "./RtpSender.ts"
import { makeVoiceCodec, type VoiceCodec } from "./VoiceCodec.ts"

/** Nothing at all for this long, while it should: the call is lost. */
const silentMs = 20_000
const reportMs = 5_000
const narrowRate = 8000
/** RFC 3389. */
const comfortNoise = 13
/** Digits that are kept until somebody listens. */
const mostEarly = 64

type Listener = Parameters<MediaSound["hear"]>[0]

/** What was agreed, and what carries it out. */
interface Talk {
  readonly agreed: Agreed
  readonly codec: VoiceCodec
  readonly receiver: RtpReceiver
  readonly sender: RtpSender
  readonly srtp: Srtp | undefined
}

/** Opens a pair of ports. Rejects when none are free. */
export const makePhoneMedia = async (options: MediaOptions): Promise<Media> =>
  new PhoneMedia(options, await openPorts(options.bind, options.ports))

class PhoneMedia implements Media {
  readonly #options: MediaOptions
  readonly #ports: RtpPorts
  readonly #now: () => number
  readonly #sessionId = randomInt(2 ** 31)
  readonly #key: SdpKey | undefined
  readonly #heard = Promise.withResolvers<void>()
  #digits = new DtmfReceiver()
  #latch: Latch | undefined
  #version = 0
  #described = ""
  #talk: Talk | undefined
  #listener: Listener | undefined
  #early: Array<string> = []
  #signAtMs: number
  #reportedAtMs: number
  #closed = false
  #refit: Resampler | undefined

  constructor(options: MediaOptions, ports: RtpPorts) {
    this.#options = options
    this.#ports = ports
    this.#now = options.nowMs ?? (() => performance.now())
    this.#key = options.secure ? { tag: "1", suite, key: makeKey() } : undefined
    this.#signAtMs = this.#now()
    this.#reportedAtMs = this.#signAtMs
    ports.rtp.on("message", (sent, from) => this.#onRtp(sent, from))
    ports.rtcp.on("message", (_sent, from) => this.#onRtcp(from))
  }

  // Agreement

  readonly offer = (): string => this.#write(undefined, undefined)

  readonly answer = async (offer: string): Promise<string | undefined> => {
    const media = readSdp(offer)
    const agreed = media && agree(media, this.#options.secure)
    if (agreed === undefined) return undefined
    await this.#settle(agreed)
    return this.#write(media, agreed)
  }

  readonly accept = async (answer: string): Promise<boolean> => {
    const media = readSdp(answer)
    const agreed = media && agree(media, this.#options.secure)
    if (agreed === undefined) return false
    await this.#settle(agreed)
    return true
  }

  get heard(): Promise<void> {
    return this.#heard.promise
  }

  readonly current = (): string => this.#described
  readonly direction = (): MediaDirection => this.#talk?.agreed.direction ?? "sendrecv"

  /** What was agreed holds from now on. */
  async #settle(agreed: Agreed): Promise<void> {
    const place = { address: agreed.address, port: agreed.port }
    this.#signAtMs = this.#now()
    this.#describe(place)
    const before = this.#talk
    if (before !== undefined && before.agreed.codec === agreed.codec && hasSameKey(before.agreed, agreed)) {
      before.sender.change(agreed)
      this.#talk = { ...before, agreed }
      return
    }
    const codec = await makeVoiceCodec(agreed.codec)
    if (this.#closed) return codec.close()
    const theirs = agreed.theirKey
    const srtp = this.#key === undefined || theirs === undefined ? undefined : makeSrtp(this.#key.key, theirs.key)
    this.#talk = {
      agreed,
      codec,
      receiver: new RtpReceiver(codec, (samples) => this.#listener?.onFrame(samples), codec.clockRate),
      sender: new RtpSender(codec, agreed, (packet) => this.#send(packet), before?.sender),
      srtp
    }
    before?.codec.close()
    this.#options.onNote("codec", `${agreed.codec}${srtp === undefined ? "" : ", SRTP"}`)
  }

  #describe(place: Place): void {
    const { mayReach, onNote } = this.#options
    if (!mayReach(place.address)) onNote("media address", "not public, nor allowed: nothing is sent there")
    if (this.#latch === undefined) this.#latch = new Latch(place, this.#now(), this.#options)
    else this.#latch.describe(place, this.#now())
  }

  #write(media: ReadonlyArray<SdpMedia> | undefined, agreed: Agreed | undefined): string {
    const { address, secure } = this.#options
    const direction: MediaDirection = agreed?.direction ?? "sendrecv"
    const key = this.#key
    const ours = (protocol = secure ? secureProtocol : plainProtocol) => ({
      port: this.#ports.port,
      protocol,
      direction,
      key: key === undefined ? undefined : { ...key, tag: agreed?.theirKey?.tag ?? key.tag },
      codecs: agreed === undefined ? offered : codecsOf(agreed, media)
    })
    this.#described = writeSdp({
      address,
      sessionId: this.#sessionId,
      version: ++this.#version,
      media:
        media === undefined
          ? [ours()]
          : media.map((one, line) => (line === agreed?.line ? ours(one.protocol) : { ...one, port: 0 }))
    })
    return this.#described
  }

  // Sound

  readonly sound = (): MediaSound => this.#sound

  readonly #sound: MediaSound = this.#makeSound()

  #makeSound(): MediaSound {
    const playRate = (): number => this.#talk?.codec.playRate ?? narrowRate
    return {
      get playRate() {
        return playRate()
      },
      play: (frame) => this.#play(frame),
      hear: (listener) => {
        this.#listener = listener
        for (const digit of this.#early) listener.onDigit(digit)
        this.#early = []
      },
      sendDigits: (row) => this.#talk?.sender.press(row)
    }
  }

  #play(frame: Int16Array | undefined): void {
    const nowMs = this.#now()
    this.#watch(nowMs)
    const talk = this.#talk
    if (talk === undefined || this.#closed) return
    if (mayHear(talk.agreed.direction)) talk.receiver.tick(nowMs)
    if (maySend(talk.agreed.direction)) talk.sender.tick(this.#fitted(frame, talk.codec.playRate), nowMs)
  }

  /** The engine goes on at the rate it began with when the codec changes. */
  #fitted(frame: Int16Array | undefined, rate: number): Int16Array | undefined {
    if (frame === undefined || frame.length === rate / 50) return frame
    if (this.#refit?.fromRate !== frame.length * 50 || this.#refit.toRate !== rate) {
      this.#refit = new Resampler(frame.length * 50, rate)
    }
    const out = this.#refit.process(frame)
    return out.length === rate / 50 ? out : undefined
  }

  // Packets

  #send(packet: Buffer): void {
    const [talk, target] = [this.#talk, this.#latch?.target]
    if (this.#closed || talk === undefined || target === undefined) return
    const { address: to, port } = target
    this.#ports.rtp.send(talk.srtp === undefined ? packet : talk.srtp.seal(packet), port, to, ignore)
  }

  #onRtp(sent: Buffer, from: RemoteInfo): void {
    const talk = this.#talk
    if (talk === undefined || this.#closed) return
    if (isRtcp(sent)) return this.#onRtcp(from)
    const packet = talk.srtp === undefined ? sent : talk.srtp.open(sent)
    const rtp = packet === undefined ? undefined : readRtp(packet)
    if (rtp !== undefined) this.#take(talk, rtp, from)
  }

  #onRtcp(from: RemoteInfo): void {
    if (this.#latch?.isFarSide(from.address) === true) this.#signAtMs = this.#now()
  }

  #take({ agreed, receiver }: Talk, rtp: RtpRead, from: RemoteInfo): void {
    const isEvent = rtp.payloadType === agreed.events?.payloadType
    if (!isEvent && rtp.payloadType !== agreed.payloadType && rtp.payloadType !== comfortNoise) return
    const nowMs = this.#now()
    const before = this.#latch?.target
    const heard = this.#latch?.hear(from, rtp, nowMs) ?? "stranger"
    if (heard === "stranger") return
    if (heard === "began") this.#began(from, before)
    this.#signAtMs = nowMs
    if (isEvent) {
      const digit = this.#digits.take(rtp, nowMs)
      if (digit !== undefined) this.#pressed(digit)
    } else if (rtp.payloadType === agreed.payloadType) receiver.take(rtp, nowMs)
  }

  /** The first packet of a stream: numbers and times of the one before say nothing about it. */
  #began(from: RemoteInfo, before: Place | undefined): void {
    this.#digits = new DtmfReceiver()
    this.#heard.resolve()
    const hasMoved = before?.address !== from.address || before.port !== from.port
    if (hasMoved) this.#options.onNote("media moved", `port ${from.port}`)
  }

  #pressed(digit: string): void {
    if (this.#listener !== undefined) this.#listener.onDigit(digit)
    else if (this.#early.length < mostEarly) this.#early.push(digit)
  }

  /** On the leg's own tick. */
  #watch(nowMs: number): void {
    if (nowMs - this.#reportedAtMs >= reportMs) {
      this.#reportedAtMs = nowMs
      this.#report()
    }
    if (this.#talk === undefined || !mayHear(this.#talk.agreed.direction)) this.#signAtMs = nowMs
    else if (nowMs - this.#signAtMs >= silentMs) {
      this.#signAtMs = nowMs
      this.#listener?.onSilent()
    }
  }

  #report(): void {
    const [talk, target] = [this.#talk, this.#latch?.target]
    if (talk === undefined || target === undefined || !maySend(talk.agreed.direction)) return
    const { address: to, port } = target
    const packet = talk.sender.report(Date.now())
    this.#ports.rtcp.send(talk.srtp === undefined ? packet : talk.srtp.sealControl(packet), port + 1, to, ignore)
  }

  readonly close = (): void => {
    if (this.#closed) return
    this.#closed = true
    this.#ports.rtp.close()
    this.#ports.rtcp.close()
    this.#talk?.codec.close()
  }
}

const ignore = (): void => undefined

const hasSameKey = (before: Agreed, now: Agreed): boolean =>
  before.theirKey === undefined || now.theirKey === undefined
    ? before.theirKey === now.theirKey
    : before.theirKey.key.equals(now.theirKey.key)

/** In an answer: the one codec that was chosen, and the events, under the far side's numbers. */
const codecsOf = (agreed: Agreed, media: ReadonlyArray<SdpMedia> | undefined) =>
  (media?.[agreed.line]?.codecs ?? [])
    .filter(({ payloadType }) => payloadType === agreed.payloadType || payloadType === agreed.events?.payloadType)
    .toSorted((a) => (a.payloadType === agreed.payloadType ? -1 : 1))
    .map(({ fmtp, name, payloadType, rate }) => ({
      payloadType,
      name,
      rate,
      fmtp: name === "telephone-event" ? "0-16" : fmtp
    }))
