// Opus in WebM, as browsers record it (RFC 8794, RFC 9559): a flat walk over the elements, so that segments and
// clusters of unknown size, which a live recorder writes, need no special care. Only what is asked of is ever held.
import { DecodeFault } from "./AudioDecoder.ts"
import type { AudioDecoder, Decoded } from "./AudioDecoder.ts"
import { OpusPackets, opusRateFor, parseOpusHead } from "./OpusPackets.ts"

const ids = {
  segment: 0x18538067,
  cluster: 0x1f43b675,
  blockGroup: 0xa0,
  tracks: 0x1654ae6b,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  trackType: 0x83,
  codecId: 0x86,
  codecPrivate: 0x63a2,
  simpleBlock: 0xa3,
  block: 0xa1
}
const entered: ReadonlySet<number> = new Set([ids.segment, ids.cluster, ids.blockGroup])
const held: ReadonlySet<number> = new Set([ids.tracks, ids.simpleBlock, ids.block])
const mostElementBytes = 1 << 20
const audioTrack = 2
const lacing = 0x06

interface Element {
  readonly id: number
  /** Undefined: unknown, up to the next element of the same level. */
  readonly size: number | undefined
  readonly bodyAt: number
}

/** `wantedRate`: decoded at it where Opus can, else at 48 kHz. */
export const makeWebmDecoder = (wantedRate: number): AudioDecoder => {
  const sampleRate = opusRateFor(wantedRate)
  let rest = new Uint8Array(0)
  let skip = 0
  let track: number | undefined
  let packets: OpusPackets | undefined

  const element = async (id: number, body: Uint8Array): Promise<ReadonlyArray<Decoded>> => {
    if (id === ids.tracks) {
      const found = opusTrack(body)
      track = found.number
      packets?.close()
      packets = await OpusPackets.make(sampleRate, found.preSkip)
      return []
    }
    const packet = packetOf(body, track)
    return packet === undefined || packets === undefined ? [] : [{ sampleRate, samples: packets.decode(packet) }]
  }

  return {
    pieceBytes: 4096,
    decode: async (bytes) => {
      const all = new Uint8Array(rest.length + bytes.length)
      all.set(rest)
      all.set(bytes, rest.length)
      const out: Array<Decoded> = []
      let at = 0
      for (;;) {
        const passed = Math.min(skip, all.length - at)
        at += passed
        skip -= passed
        const next = skip > 0 ? undefined : elementAt(all, at)
        if (next === undefined) break
        if (entered.has(next.id)) {
          at = next.bodyAt
          continue
        }
        if (next.size === undefined) throw new DecodeFault("Damaged", "WebM: an element without an end")
        if (!held.has(next.id)) {
          skip = next.bodyAt - at + next.size
          continue
        }
        if (next.size > mostElementBytes) throw new DecodeFault("Damaged", "WebM: an element beyond reason")
        const end = next.bodyAt + next.size
        if (end > all.length) break
        out.push(...(await element(next.id, all.subarray(next.bodyAt, end))))
        at = end
      }
      rest = all.slice(at)
      return out
    },
    finish: () => {
      if (packets === undefined || packets.good === 0) {
        throw new DecodeFault("Damaged", "WebM: no Opus packet could be decoded")
      }
      return []
    },
    close: () => packets?.close()
  }
}

/** The first track of sound. */
const opusTrack = (tracks: Uint8Array): { readonly number: number; readonly preSkip: number } => {
  for (const entry of children(tracks)) {
    if (entry.id !== ids.trackEntry) continue
    const fields = new Map(children(entry.body).map((field) => [field.id, field.body]))
    if (numberOf(fields.get(ids.trackType)) !== audioTrack) continue
    const codec = String.fromCharCode(...(fields.get(ids.codecId) ?? [])).replaceAll("\0", "")
    if (codec !== "A_OPUS") throw new DecodeFault("Unsupported", "WebM with a codec other than Opus is not read")
    const head = fields.get(ids.codecPrivate)
    return { number: numberOf(fields.get(ids.trackNumber)), preSkip: head ? parseOpusHead(head).preSkip : 0 }
  }
  throw new DecodeFault("Unsupported", "WebM without a track of sound")
}

/** The packet of a block that belongs to `track`. */
const packetOf = (block: Uint8Array, track: number | undefined): Uint8Array | undefined => {
  const number = vint(block, 0)
  if (number === undefined || number.value !== track) return undefined
  const flags = block[number.bytes + 2]
  if (flags === undefined) return undefined
  if (flags & lacing) throw new DecodeFault("Unsupported", "WebM with laced blocks is not read")
  return block.subarray(number.bytes + 3)
}

const children = (body: Uint8Array): Array<{ readonly id: number; readonly body: Uint8Array }> => {
  const found: Array<{ readonly id: number; readonly body: Uint8Array }> = []
  for (let at = 0; at < body.length;) {
    const next = elementAt(body, at)
    if (next?.size === undefined || next.bodyAt + next.size > body.length) break
    found.push({ id: next.id, body: body.subarray(next.bodyAt, next.bodyAt + next.size) })
    at = next.bodyAt + next.size
  }
  return found
}

/** The element whose header is at `at`, once the header is whole. Throws for what cannot be one. */
const elementAt = (bytes: Uint8Array, at: number): Element | undefined => {
  if (at >= bytes.length) return undefined
  const idBytes = Math.clz32(bytes[at]!) - 23
  if (idBytes > 4) throw new DecodeFault("Damaged", "WebM: not an element")
  if (at + idBytes > bytes.length) return undefined
  const id = bytes.subarray(at, at + idBytes).reduce((sum, byte) => sum * 256 + byte, 0)
  const size = vint(bytes, at + idBytes)
  if (size === undefined) return undefined
  return { id, size: size.unknown ? undefined : size.value, bodyAt: at + idBytes + size.bytes }
}

interface Vint {
  readonly value: number
  readonly bytes: number
  /** All bits set: a size that is not known. */
  readonly unknown: boolean
}

/** A number of 1 to 8 bytes whose first set bit tells how many (RFC 8794, 4). */
const vint = (source: Uint8Array, at: number): Vint | undefined => {
  if (at >= source.length) return undefined
  const bytes = Math.clz32(source[at]!) - 23
  if (bytes > 8) throw new DecodeFault("Damaged", "WebM: a number without a length")
  if (at + bytes > source.length) return undefined
  const first = source[at]! & (0xff >> bytes)
  let unknown = first === 0xff >> bytes
  let value = first
  for (let i = 1; i < bytes; i++) {
    unknown &&= source[at + i] === 0xff
    value = value * 256 + source[at + i]!
  }
  return { value, bytes, unknown }
}

const numberOf = (body: Uint8Array | undefined): number =>
  (body ?? new Uint8Array(0)).reduce((sum, byte) => sum * 256 + byte, 0)
