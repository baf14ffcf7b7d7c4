// The media of one telephone call: a pair of ports, what was agreed about them, and the sound that crosses. Everything
// after the agreement is synchronous on the media thread. Packets come from anywhere: what is not understood, not
// authentic or from a stranger is dropped.
import { Resampler } from "@parley/audio/Resampler"
import type { RemoteInfo } from "node:dgram"
import { randomInt } from "node:crypto"
import { DtmfReceiver } from "./dtmf.ts"
import { RtpReceiver } from "./RtpReceiver.ts"
import { Latch } from "./Latch.ts"
import type { Media, MediaOptions, MediaSound } from "./Media.ts"
import { type Agreed, agree, mayHear, maySend, offered, plainProtocol, secureProtocol, suite } from "./negotiation.ts"
import { openPorts } from "./RtpPorts.ts"
import { isRtcp, readRtp } from "./rtpPacket.ts"
import { type MediaDirection, readSdp, type SdpKey, type SdpMedia, writeSdp } from "./sdp.ts"
import { makeKey, makeSrtp, type Srtp } from "./Srtp.ts"
import { RtpSender } from "./RtpSender.ts"
import { makeVoiceCodec, type VoiceCodec } from "./VoiceCodec.ts"

/** Nothing at all for this long, while it should: the call is lost. */
const silentMs = 20_000
const reportMs = 5_000

interface Ears {
  readonly onFrame: (samples: Int16Array) => void
  readonly onDigit: (digit: string) => void
  readonly onSilent: () => void
}

interface Talk {
  readonly agreed: Agreed
  readonly codec: VoiceCodec
  readonly latch: Latch
  readonly receiver: RtpReceiver
  readonly sender: RtpSender
  readonly srtp: Srtp | undefined
}

/** Rejects when no ports are free. */
export const makePhoneMedia = async (options: MediaOptions): Promise<Media> => {
  const { address, nowMs: now = () => performance.now(), onNote, secure } = options
  const ports = await openPorts(options.bind, options.ports)
  const sessionId = randomInt(2 ** 31)
  const key: SdpKey | undefined = secure ? { tag: "1", suite, key: makeKey() } : undefined
  const digits = new DtmfReceiver()
  let version = 0
  let described = ""
  let talk: Talk | undefined
  let ears: Ears | undefined
  let early: Array<string> = []
  let signAtMs = now()
  let closed = false
  let refit: Resampler | undefined

  const send = (packet: Buffer): void => {
    if (closed || talk === undefined) return
    const { address: to, port } = talk.latch.target
    ports.rtp.send(talk.srtp === undefined ? packet : talk.srtp.seal(packet), port, to, ignore)
  }

  const pressed = (digit: string): void => {
    if (ears !== undefined) ears.onDigit(digit)
    else if (early.length < mostEarly) early.push(digit)
  }

  const onRtp = (sent: Buffer, from: RemoteInfo): void => {
    if (talk === undefined || closed) return
    if (isRtcp(sent)) return void (signAtMs = now())
    const packet = talk.srtp === undefined ? sent : talk.srtp.open(sent)
    const rtp = packet === undefined ? undefined : readRtp(packet)
    if (rtp === undefined) return
    const { agreed, receiver, latch } = talk
    const isEvent = rtp.payloadType === agreed.events?.payloadType
    if (!isEvent && rtp.payloadType !== agreed.payloadType && rtp.payloadType !== comfortNoise) return
    const nowMs = now()
    const heard = latch.hear(from, nowMs)
    if (heard === "stranger") return
    if (heard === "moved") onNote("media moved", `port ${from.port}`)
    signAtMs = nowMs
    if (isEvent) {
      const digit = digits.take(rtp, nowMs)
      if (digit !== undefined) pressed(digit)
    } else if (rtp.payloadType === agreed.payloadType) receiver.take(rtp, nowMs)
  }
  ports.rtp.on("message", onRtp)
  ports.rtcp.on("message", () => void (signAtMs = now()))

  const report = (): void => {
    if (talk === undefined || !maySend(talk.agreed.direction)) return
    const { address: to, port } = talk.latch.target
    const packet = talk.sender.report(Date.now())
    ports.rtcp.send(talk.srtp === undefined ? packet : talk.srtp.sealControl(packet), port + 1, to, ignore)
  }
  let reportedAtMs = now()
  /** On the leg's own tick. */
  const watch = (nowMs: number): void => {
    if (nowMs - reportedAtMs >= reportMs) {
      reportedAtMs = nowMs
      report()
    }
    if (talk === undefined || !mayHear(talk.agreed.direction)) signAtMs = nowMs
    else if (nowMs - signAtMs >= silentMs) {
      signAtMs = nowMs
      ears?.onSilent()
    }
  }

  /** What was agreed holds from now on. */
  const settle = async (agreed: Agreed): Promise<void> => {
    const place = { address: agreed.address, port: agreed.port }
    signAtMs = now()
    const before = talk
    const sameKey = before?.agreed.theirKey?.key.equals(agreed.theirKey?.key ?? none) ?? agreed.theirKey === undefined
    if (before !== undefined && before.agreed.codec === agreed.codec && sameKey) {
      before.latch.describe(place)
      before.sender.change(agreed)
      talk = { ...before, agreed }
      return
    }
    const codec = await makeVoiceCodec(agreed.codec)
    if (closed) return codec.close()
    const srtp = key === undefined || agreed.theirKey === undefined ? undefined : makeSrtp(key.key, agreed.theirKey.key)
    talk = {
      agreed,
      codec,
      latch: new Latch(place),
      receiver: new RtpReceiver(codec, (samples) => ears?.onFrame(samples), codec.clockRate),
      sender: new RtpSender(codec, agreed, send, before?.sender),
      srtp
    }
    before?.codec.close()
    onNote("codec", `${agreed.codec}${srtp === undefined ? "" : ", SRTP"}`)
  }

  const write = (media: ReadonlyArray<SdpMedia> | undefined, agreed: Agreed | undefined): string => {
    const direction: MediaDirection = agreed?.direction ?? "sendrecv"
    const protocol = secure ? secureProtocol : plainProtocol
    const ours = (theirProtocol = protocol) => ({
      port: ports.port,
      protocol: theirProtocol,
      direction,
      key: key === undefined ? undefined : { ...key, tag: agreed?.theirKey?.tag ?? key.tag },
      codecs: agreed === undefined ? offered : codecsOf(agreed, media)
    })
    described = writeSdp({
      address,
      sessionId,
      version: ++version,
      media:
        media === undefined
          ? [ours()]
          : media.map((one, line) => (line === agreed?.line ? ours(one.protocol) : { ...one, port: 0 }))
    })
    return described
  }

  /** The engine goes on at the rate it began with when the codec changes. */
  const fitted = (frame: Int16Array | undefined, rate: number): Int16Array | undefined => {
    if (frame === undefined || frame.length === rate / 50) return frame
    if (refit?.fromRate !== frame.length * 50 || refit.toRate !== rate) refit = new Resampler(frame.length * 50, rate)
    const out = refit.process(frame)
    return out.length === rate / 50 ? out : undefined
  }

  const sound: MediaSound = {
    get playRate() {
      return talk?.codec.playRate ?? narrowRate
    },
    play: (frame) => {
      const nowMs = now()
      watch(nowMs)
      if (talk === undefined || closed) return
      if (mayHear(talk.agreed.direction)) talk.receiver.tick(nowMs)
      if (maySend(talk.agreed.direction)) talk.sender.tick(fitted(frame, talk.codec.playRate), nowMs)
    },
    hear: (given) => {
      ears = given
      for (const digit of early) given.onDigit(digit)
      early = []
    },
    sendDigits: (row) => talk?.sender.press(row)
  }

  return {
    offer: () => write(undefined, undefined),
    answer: async (offer) => {
      const media = readSdp(offer)
      const agreed = media && agree(media, secure)
      if (agreed === undefined) return undefined
      await settle(agreed)
      return write(media, agreed)
    },
    accept: async (answer) => {
      const media = readSdp(answer)
      const agreed = media && agree(media, secure)
      if (agreed === undefined) return false
      await settle(agreed)
      return true
    },
    current: () => described,
    direction: () => talk?.agreed.direction ?? "sendrecv",
    sound: () => sound,
    close: () => {
      if (closed) return
      closed = true
      ports.rtp.close()
      ports.rtcp.close()
      talk?.codec.close()
    }
  }
}

const narrowRate = 8000
/** RFC 3389. */
const comfortNoise = 13
const mostEarly = 64
const none = Buffer.alloc(0)
const ignore = (): void => undefined

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
