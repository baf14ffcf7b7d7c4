// Pages of an Ogg file and the packets that end on them (RFC 3533). Pages with a wrong checksum are passed over, and
// the reader finds the next one; a packet that lost a part, or grows beyond reason, is dropped.
import { oggCrc } from "./OggCrc.ts"

/** One page, and the packets that end in it (RFC 3533). */
export interface OggPage {
  readonly serial: number
  readonly begins: boolean
  readonly ends: boolean
  /** Position after the last packet that ends here; -1 when none does. */
  readonly granule: number
  readonly packets: ReadonlyArray<Uint8Array>
}

const headerBytes = 27
const mostPacketBytes = 1 << 20

/** Bytes in pieces of any length in, whole pages out. */
export class OggReader {
  #held = new Uint8Array(0)
  /** The beginning of a packet that goes on with the next page, per logical stream. */
  readonly #parts = new Map<number, Uint8Array>()

  push(bytes: Uint8Array): ReadonlyArray<OggPage> {
    const all = new Uint8Array(this.#held.length + bytes.length)
    all.set(this.#held)
    all.set(bytes, this.#held.length)
    const pages: Array<OggPage> = []
    let at = 0
    for (;;) {
      at = nextPage(all, at)
      if (all.length - at < headerBytes) break
      const bodyAt = at + headerBytes + all[at + 26]!
      if (bodyAt > all.length) break
      const end = all.subarray(at + headerBytes, bodyAt).reduce((sum, segment) => sum + segment, bodyAt)
      if (end > all.length) break
      const page = all.subarray(at, end)
      const view = new DataView(page.buffer, page.byteOffset, page.byteLength)
      if (view.getUint32(22, true) !== oggCrc(page)) {
        at++
        continue
      }
      pages.push(this.#page(page, view))
      at = end
    }
    this.#held = all.slice(at)
    return pages
  }

  #page(page: Uint8Array, view: DataView): OggPage {
    const flags = page[5]!
    const serial = view.getUint32(14, true)
    const granule = view.getBigInt64(6, true)
    const segments = page.subarray(headerBytes, headerBytes + page[26]!)
    const packets: Array<Uint8Array> = []
    const known = this.#parts.get(serial)
    this.#parts.delete(serial)
    let part: Uint8Array | undefined = flags & 1 ? known : new Uint8Array(0)
    let at = headerBytes + segments.length
    let from = at
    segments.forEach((segment, index) => {
      at += segment
      if (segment === 255 && index < segments.length - 1) return
      const body = page.subarray(from, at)
      const packet = part === undefined ? undefined : joined(part, body)
      from = at
      if (segment < 255) {
        if (packet !== undefined) packets.push(packet)
        part = new Uint8Array(0)
      } else if (packet !== undefined && packet.length <= mostPacketBytes && this.#parts.size < 8) {
        this.#parts.set(serial, packet)
      }
    })
    return { serial, begins: (flags & 2) !== 0, ends: (flags & 4) !== 0, granule: Number(granule), packets }
  }
}

/** Where "OggS" and version 0 stand next, or where it might begin at the end. */
const nextPage = (bytes: Uint8Array, from: number): number => {
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] !== 0x4f) continue
    if (at + 5 > bytes.length) return at
    if (bytes[at + 1] === 0x67 && bytes[at + 2] === 0x67 && bytes[at + 3] === 0x53 && bytes[at + 4] === 0) return at
  }
  return bytes.length
}

const joined = (before: Uint8Array, after: Uint8Array): Uint8Array => {
  const all = new Uint8Array(before.length + after.length)
  all.set(before)
  all.set(after, before.length)
  return all
}
