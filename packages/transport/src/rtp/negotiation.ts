// Offer and answer of a telephone call (RFC 3264): which codec, where to, who may send. Pure. The far side's first
// codec that we speak is taken; keys are asked for where the call is secure, and refused where it is not.
import type { MediaDirection, SdpCodec, SdpKey, SdpMedia } from "./sdp.ts"

/** The codecs we speak. */
export type VoiceCodec = "pcmu" | "pcma" | "opus"

/** What offer and answer came to. */
export interface Agreed {
  readonly codec: VoiceCodec
  readonly payloadType: number
  /** Of telephone events; undefined when the far side takes none. */
  readonly events: SdpCodec | undefined
  readonly address: string
  readonly port: number
  /** Ours. */
  readonly direction: MediaDirection
  /** Theirs, when the call is secure. */
  readonly theirKey: SdpKey | undefined
  /** Which of the offer's media lines. */
  readonly line: number
}

/** The only SRTP suite we offer and take (RFC 4568, 6.2.1). */
export const suite = "AES_CM_128_HMAC_SHA1_80"
/** RTP without keys. */
export const plainProtocol = "RTP/AVP"
/** RTP with SDES keys. */
export const secureProtocol = "RTP/SAVP"

const voices: Readonly<Record<string, number>> = { pcmu: 8000, pcma: 8000, opus: 48_000 }

/** What we offer, in our order: narrow-band first, as telephones expect it. */
export const offered: ReadonlyArray<SdpCodec> = [
  { payloadType: 0, name: "pcmu", rate: 8000, fmtp: "" },
  { payloadType: 8, name: "pcma", rate: 8000, fmtp: "" },
  { payloadType: 111, name: "opus", rate: 48_000, fmtp: "useinbandfec=1" },
  { payloadType: 101, name: "telephone-event", rate: 8000, fmtp: "0-16" },
  { payloadType: 102, name: "telephone-event", rate: 48_000, fmtp: "0-16" }
]

/** Their description against what we can do; undefined when nothing fits. Also for their answer. */
export const agree = (media: ReadonlyArray<SdpMedia>, secure: boolean): Agreed | undefined => {
  for (const [line, one] of media.entries()) {
    if (one.kind !== "audio" || one.port === 0 || one.address === "") continue
    if (!(secure ? /^(RTP\/SAVPF?|UDP\/TLS\/RTP\/SAVPF?)$/ : /^RTP\/AVPF?$/).test(one.protocol)) continue
    const theirKey = one.keys.find((key) => key.suite === suite)
    if (secure && theirKey === undefined) continue
    const voice = one.codecs.find((codec) => voices[codec.name] === codec.rate)
    if (voice === undefined) continue
    const events = one.codecs.filter((codec) => codec.name === "telephone-event")
    return {
      codec: voice.name as VoiceCodec,
      payloadType: voice.payloadType,
      events: events.find((codec) => codec.rate === voice.rate) ?? events[0],
      address: one.address,
      port: one.port,
      direction: one.address === "0.0.0.0" ? "inactive" : facing[one.direction],
      theirKey: secure ? theirKey : undefined,
      line
    }
  }
  return undefined
}

/** What they do not send we do not hear, and the other way round. */
const facing: Readonly<Record<MediaDirection, MediaDirection>> = {
  sendrecv: "sendrecv",
  sendonly: "recvonly",
  recvonly: "sendonly",
  inactive: "inactive"
}

/** Whether we send. */
export const maySend = (direction: MediaDirection): boolean => direction === "sendrecv" || direction === "sendonly"
/** Whether we listen. */
export const mayHear = (direction: MediaDirection): boolean => direction === "sendrecv" || direction === "recvonly"
