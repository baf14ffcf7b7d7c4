// Where an Ogg file that was being written when its writer died is still whole (RFC 3533, 6): pages follow each other
// from the first byte, so everything from the first page that is cut or damaged on is given up. The last whole page
// then gets the mark of the end, which some players wait for.
import { oggCrc } from "./OggCrc.ts"

/** The part of an Ogg file that is whole. */
export interface OggTail {
  /** Bytes to keep. */
  readonly length: number
  /** Where the last whole page begins. */
  readonly lastPageAt: number
  /** Of an Opus stream, pre-skip taken off (RFC 7845, 4.3). */
  readonly durationMs: number
}

const headerBytes = 27
const endOfStream = 4

/** Undefined when no sound is kept: not even one page after the two of the head. */
export const oggTail = (file: Uint8Array): OggTail | undefined => {
  let at = 0
  let lastPageAt = 0
  let pages = 0
  let granule = 0
  for (let end = pageEnd(file, at); end !== undefined; end = pageEnd(file, at)) {
    lastPageAt = at
    granule = Number(viewOf(file).getBigInt64(at + 6, true))
    at = end
    pages++
  }
  const heads = 2
  if (pages <= heads) return undefined
  const samples = granule - preSkipOf(file)
  return samples <= 0 ? undefined : { length: at, lastPageAt, durationMs: Math.round(samples / 48) }
}

/** Marks a page as the last one, in place. */
export const endOggPage = (page: Uint8Array): void => {
  page[5] = page[5]! | endOfStream
  viewOf(page).setUint32(22, oggCrc(page), true)
}

/** Where the page at `at` ends; undefined when it is not whole and right. */
const pageEnd = (file: Uint8Array, at: number): number | undefined => {
  if (at + headerBytes > file.length || viewOf(file).getUint32(at) !== 0x4f676753) return undefined
  const bodyAt = at + headerBytes + file[at + 26]!
  if (bodyAt > file.length) return undefined
  let end = bodyAt
  for (let i = at + headerBytes; i < bodyAt; i++) end += file[i]!
  if (end > file.length) return undefined
  return viewOf(file).getUint32(at + 22, true) === oggCrc(file.subarray(at, end)) ? end : undefined
}

/** The head is alone on the first page, in one segment (RFC 7845, 3). */
const preSkipOf = (file: Uint8Array): number => viewOf(file).getUint16(headerBytes + 1 + 10, true)

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
