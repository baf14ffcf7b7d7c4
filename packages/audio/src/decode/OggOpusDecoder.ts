// Ogg Opus (RFC 7845): the first Opus stream of the file and those chained after it. The granule position of the last
// page trims the end; a recording that was cut out of a running stream begins where its first page says.
import { DecodeFault } from "./AudioDecoder.ts"
import type { AudioDecoder, Decoded } from "./AudioDecoder.ts"
import { OggReader } from "./OggReader.ts"
import type { OggPage } from "./OggReader.ts"
import { OpusPackets, opusRateFor, parseOpusHead } from "./OpusPackets.ts"

/** `wantedRate`: decoded at it where Opus can, else at 48 kHz. */
export const makeOggOpusDecoder = (wantedRate: number): AudioDecoder => {
  const reader = new OggReader()
  const sampleRate = opusRateFor(wantedRate)
  let stream: Stream | undefined
  let good = 0

  const close = (): void => {
    good += stream?.packets.good ?? 0
    stream?.packets.close()
    stream = undefined
  }

  const page = async (one: OggPage): Promise<ReadonlyArray<Decoded>> => {
    if (one.begins && stream === undefined && one.packets[0] !== undefined) {
      const { preSkip } = parseOpusHead(one.packets[0])
      stream = new Stream(one.serial, preSkip, await OpusPackets.make(sampleRate, preSkip))
      return []
    }
    if (stream === undefined || stream.serial !== one.serial) return []
    const samples = stream.page(one)
    if (one.ends) close()
    return samples.map((piece) => ({ sampleRate, samples: piece }))
  }

  return {
    pieceBytes: 4096,
    decode: async (bytes) => {
      const out: Array<Decoded> = []
      for (const one of reader.push(bytes)) out.push(...(await page(one)))
      return out
    },
    finish: () => {
      close()
      if (good === 0) throw new DecodeFault("Damaged", "Ogg Opus: no packet could be decoded")
      return []
    },
    close
  }
}

class Stream {
  readonly serial: number
  readonly packets: OpusPackets
  readonly #preSkip: number
  #sawTags = false
  /** Position of the stream's first sample, at 48 kHz; known after the first page of sound. */
  #begin: number | undefined
  #given = 0

  constructor(serial: number, preSkip: number, packets: OpusPackets) {
    this.serial = serial
    this.#preSkip = preSkip
    this.packets = packets
  }

  page(page: OggPage): ReadonlyArray<Int16Array> {
    const packets = this.#sawTags ? page.packets : page.packets.slice(1)
    this.#sawTags ||= page.packets.length > 0
    const pieces = packets.map((packet) => this.packets.decode(packet))
    if (packets.length === 0) return []
    const scale = 48000 / this.packets.sampleRate
    const samples = pieces.reduce((sum, piece) => sum + piece.length, 0)
    const before = this.#given
    this.#given += samples
    if (page.granule < 0) return pieces
    const heardEnd = (page.granule - this.#preSkip) / scale
    this.#begin ??= page.ends ? 0 : Math.max(0, heardEnd - this.#given)
    if (!page.ends) return pieces
    return cut(pieces, Math.max(0, Math.round(heardEnd - this.#begin) - before))
  }
}

/** The first `most` samples. */
const cut = (pieces: ReadonlyArray<Int16Array>, most: number): ReadonlyArray<Int16Array> => {
  let left = most
  return pieces.map((piece) => {
    const kept = piece.subarray(0, left)
    left -= kept.length
    return kept
  })
}
