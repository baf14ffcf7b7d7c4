// Session descriptions of a telephone call (RFC 8866): read leniently, written plainly. Pure. Only what a call needs:
// media lines in their order, addresses, codecs, direction, SDES keys. Our own rather than `sdp-transform`: that takes
// any text as a description, keeps every line of it, and checks no port, payload type or key; the refusals and bounds
// here would all have to be written again on top of it.

/** RFC 8866, 6.7. */
export type MediaDirection = "sendrecv" | "sendonly" | "recvonly" | "inactive"

/** A codec of a media line: rtpmap and fmtp, or the static numbers of RFC 3551. */
export interface SdpCodec {
  readonly payloadType: number
  /** Lower case. */
  readonly name: string
  readonly rate: number
  /** As written, empty when there is none. */
  readonly fmtp: string
}

/** A master key of RFC 4568. */
export interface SdpKey {
  readonly tag: string
  readonly suite: string
  /** 30 bytes: master key, then salt. */
  readonly key: Buffer
}

/** One media line as it came. */
export interface SdpMedia {
  /** `audio`, `video`, ... */
  readonly kind: string
  /** 0: refused. */
  readonly port: number
  readonly protocol: string
  readonly formats: ReadonlyArray<string>
  readonly codecs: ReadonlyArray<SdpCodec>
  /** Empty when nobody said. */
  readonly address: string
  readonly direction: MediaDirection
  readonly keys: ReadonlyArray<SdpKey>
  /** RTCP on the same port (RFC 5761). */
  readonly rtcpMux: boolean
}

const staticCodecs: Readonly<Record<number, readonly [name: string, rate: number]>> = {
  0: ["pcmu", 8000],
  8: ["pcma", 8000],
  9: ["g722", 8000],
  13: ["cn", 8000]
}

const mostLines = 1_000

/** Undefined for anything without a media line. */
export const readSdp = (text: string): ReadonlyArray<SdpMedia> | undefined => {
  const lines = text.split(/\r\n|\r|\n/, mostLines)
  if (!lines.some((line) => line.startsWith("v=0"))) return undefined
  const starts = lines.flatMap((line, at) => (line.startsWith("m=") ? [at] : []))
  if (starts.length === 0) return undefined
  const session = lines.slice(0, starts[0])
  return starts.map((start, i) => readMedia(lines.slice(start, starts[i + 1]), session))
}

const readMedia = (lines: ReadonlyArray<string>, session: ReadonlyArray<string>): SdpMedia => {
  const [kind = "", port = "0", protocol = "", ...formats] = (lines[0] ?? "").slice(2).trim().split(/\s+/)
  const attributes = lines.filter((line) => line.startsWith("a=")).map((line) => line.slice(2).trim())
  const named = (name: string) =>
    attributes.flatMap((line) => (line.startsWith(`${name}:`) ? [line.slice(name.length + 1).trim()] : []))
  const whole = Number.parseInt(port, 10)
  return {
    kind,
    port: whole >= 0 && whole <= 65_535 ? whole : 0,
    protocol,
    formats,
    codecs: formats.flatMap((format) => codecOf(format, named("rtpmap"), named("fmtp"))),
    address: addressIn(lines) || addressIn(session),
    direction: directionIn(attributes) ?? directionIn(session.map((line) => line.replace(/^a=/, ""))) ?? "sendrecv",
    keys: named("crypto").flatMap(keyOf),
    rtcpMux: attributes.includes("rtcp-mux")
  }
}

const codecOf = (
  format: string,
  maps: ReadonlyArray<string>,
  parameters: ReadonlyArray<string>
): ReadonlyArray<SdpCodec> => {
  const payloadType = /^\d{1,3}$/.test(format) ? Number(format) : 128
  if (payloadType > 127) return []
  const of = (line: string): boolean => line.split(/\s/, 1)[0] === format
  const fmtp = parameters.find(of)?.slice(format.length).trim() ?? ""
  const mapped = /^\d+\s+([^/\s]+)\/(\d{1,6})/.exec(maps.find(of) ?? "")
  const known = staticCodecs[payloadType]
  const name = mapped?.[1]?.toLowerCase() ?? known?.[0]
  const rate = mapped === null ? known?.[1] : Number(mapped[2])
  return name === undefined || rate === undefined ? [] : [{ payloadType, name, rate, fmtp }]
}

const addressIn = (lines: ReadonlyArray<string>): string => {
  const line = lines.find((one) => one.startsWith("c="))
  return /^c=IN\s+IP[46]\s+([0-9A-Fa-f.:]+)/.exec(line ?? "")?.[1] ?? ""
}

const directionIn = (attributes: ReadonlyArray<string>): MediaDirection | undefined => {
  const found = attributes
    .map((line) => line.trim())
    .find((line) => /^(sendrecv|sendonly|recvonly|inactive)$/.test(line))
  return found as MediaDirection | undefined
}

/** `1 AES_CM_128_HMAC_SHA1_80 inline:<base64>|...` (RFC 4568, 6.1). */
const keyOf = (line: string): ReadonlyArray<SdpKey> => {
  const [, tag = "", suite = "", text = ""] = /^(\d{1,9})\s+(\S+)\s+inline:([A-Za-z0-9+/=]+)/.exec(line) ?? []
  const key = Buffer.from(text, "base64")
  return tag !== "" && key.length === 30 ? [{ tag, suite, key }] : []
}

/** A media line of ours. */
export interface WrittenMedia {
  readonly port: number
  readonly protocol: string
  readonly codecs: ReadonlyArray<SdpCodec>
  readonly direction: MediaDirection
  readonly key: SdpKey | undefined
}

/** A session description of ours. */
export interface WrittenSdp {
  readonly address: string
  readonly sessionId: number
  /** Grows with every change (RFC 3264, 8). */
  readonly version: number
  /** In the order of the offer; what is refused keeps its kind and formats. */
  readonly media: ReadonlyArray<WrittenMedia | SdpMedia>
}

/** The description as text, lines ended by CRLF. */
export const writeSdp = ({ address, media, sessionId, version }: WrittenSdp): string => {
  const family = address.includes(":") ? "IP6" : "IP4"
  return [
    "v=0",
    `o=- ${sessionId} ${version} IN ${family} ${address}`,
    "s=-",
    `c=IN ${family} ${address}`,
    "t=0 0",
    ...media.flatMap((one) =>
      "kind" in one ? [`m=${one.kind} 0 ${one.protocol} ${one.formats.join(" ")}`] : audio(one)
    ),
    ""
  ].join("\r\n")
}

const audio = ({ codecs, direction, key, port, protocol }: WrittenMedia): ReadonlyArray<string> => [
  `m=audio ${port} ${protocol} ${codecs.map((codec) => codec.payloadType).join(" ")}`,
  ...codecs.flatMap(({ fmtp, name, payloadType, rate }) => [
    `a=rtpmap:${payloadType} ${spelt[name] ?? name}/${rate}${name === "opus" ? "/2" : ""}`,
    ...(fmtp === "" ? [] : [`a=fmtp:${payloadType} ${fmtp}`])
  ]),
  "a=ptime:20",
  `a=${direction}`,
  ...(key === undefined ? [] : [`a=crypto:${key.tag} ${key.suite} inline:${key.key.toString("base64")}`])
]

const spelt: Readonly<Record<string, string>> = { pcmu: "PCMU", pcma: "PCMA", cn: "CN" }
