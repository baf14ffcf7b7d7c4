// Session descriptions of a telephone call (RFC 8866): read leniently, written plainly. Pure. Only what a call needs:
// media lines in their order, addresses, codecs, direction, SDES keys. Our own rather than `sdp-transform` 3.0.0, which was
// measured on 35 malformed bodies: it neither throws nor lets `__proto__` through, but it takes every one of them ("hello",
// port 99999, payload type 300, keys of 3 bytes), keeps all of 16,000 lines for 40 ms where this reads a thousand in 0.1 ms,
// and is no faster on an offer (SIP 7.5 us to 4.8, WebRTC 121 us to 34).

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
  const session = sectionOf(lines.slice(0, starts[0]))
  return starts.map((start, i) =>
    readMedia(lines[start] ?? "", sectionOf(lines.slice(start + 1, starts[i + 1])), session)
  )
}

/** What the lines under one media line say, or those before the first. */
interface Section {
  readonly address: string
  readonly direction: MediaDirection | undefined
  /** By payload type as written; the first counts. */
  readonly maps: ReadonlyMap<string, string>
  readonly parameters: ReadonlyMap<string, string>
  readonly keys: ReadonlyArray<SdpKey>
  readonly rtcpMux: boolean
}

/** Each line is looked at once: a body is a stranger's, and may have a thousand of them. */
const sectionOf = (lines: ReadonlyArray<string>): Section => {
  const attributes = lines.filter((line) => line.startsWith("a=")).map((line) => line.slice(2).trim())
  const named = (name: string) =>
    attributes.flatMap((line) => (line.startsWith(name) ? [line.slice(name.length).trim()] : []))
  return {
    address: addressOf(lines.find((line) => line.startsWith("c="))),
    direction: attributes.find(isDirection),
    maps: byPayloadType(named("rtpmap:")),
    parameters: byPayloadType(named("fmtp:")),
    keys: named("crypto:").flatMap(keyOf),
    rtcpMux: attributes.includes("rtcp-mux")
  }
}

const readMedia = (line: string, section: Section, session: Section): SdpMedia => {
  const [kind = "", port = "0", protocol = "", ...formats] = line.slice(2).trim().split(/\s+/)
  const whole = Number.parseInt(port, 10)
  return {
    kind,
    port: whole >= 0 && whole <= 65_535 ? whole : 0,
    protocol,
    formats,
    codecs: [...new Set(formats)].flatMap((format) => codecOf(format, section)),
    address: section.address || session.address,
    direction: section.direction ?? session.direction ?? "sendrecv",
    keys: section.keys,
    rtcpMux: section.rtcpMux
  }
}

const codecOf = (format: string, { maps, parameters }: Section): ReadonlyArray<SdpCodec> => {
  const payloadType = /^\d{1,3}$/.test(format) ? Number(format) : 128
  if (payloadType > 127) return []
  const mapped = /^([^/\s]+)\/(\d{1,6})/.exec(maps.get(format) ?? "")
  const known = staticCodecs[payloadType]
  const name = mapped?.[1]?.toLowerCase() ?? known?.[0]
  const rate = mapped === null ? known?.[1] : Number(mapped[2])
  const fmtp = parameters.get(format) ?? ""
  return name === undefined || rate === undefined ? [] : [{ payloadType, name, rate, fmtp }]
}

const byPayloadType = (values: ReadonlyArray<string>): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (const value of values) {
    const end = value.search(/\s/)
    const payloadType = end < 0 ? value : value.slice(0, end)
    if (!found.has(payloadType)) found.set(payloadType, end < 0 ? "" : value.slice(end).trim())
  }
  return found
}

const addressOf = (line: string | undefined): string => /^c=IN\s+IP[46]\s+([0-9A-Fa-f.:]+)/.exec(line ?? "")?.[1] ?? ""

const isDirection = (attribute: string): attribute is MediaDirection =>
  attribute === "sendrecv" || attribute === "sendonly" || attribute === "recvonly" || attribute === "inactive"

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
