// Ogg pages read back as written, in pieces of any size, across damage, and packets that span pages; and containers
// told apart.
import { describe, expect, it } from "vitest"
import { containerOf } from "@parley/audio/decode/containerOf"
import { oggCrc } from "@parley/audio/decode/OggCrc"
import { OggReader } from "@parley/audio/decode/OggReader"
import type { OggPage } from "@parley/audio/decode/OggReader"
import { makeOggOpusDecoder } from "@parley/audio/decode/OggOpusDecoder"
import { makeOggOpusEncoder } from "@parley/audio/encode/OggOpusEncoder"
import { OggWriter } from "@parley/audio/encode/OggWriter"

const packet = (length: number): Uint8Array => Uint8Array.from({ length }, (_, n) => (n * 7 + length) & 255)

const read = (bytes: Uint8Array, step: number): ReadonlyArray<OggPage> => {
  const reader = new OggReader()
  const pages: Array<OggPage> = []
  for (let at = 0; at < bytes.length; at += step) pages.push(...reader.push(bytes.subarray(at, at + step)))
  return pages
}

const written = (): Uint8Array => {
  const writer = new OggWriter(0xfedcba98)
  writer.add(packet(19))
  const pages = [writer.page(0)]
  for (const length of [1, 254, 255, 256, 510, 0]) writer.add(packet(length))
  pages.push(writer.page(960))
  writer.add(packet(3))
  pages.push(writer.page(1920, true))
  return Buffer.concat(pages)
}

const page = (flags: number, segments: ReadonlyArray<number>, body: Uint8Array): Buffer => {
  const bytes = Buffer.concat([Buffer.alloc(27), Buffer.from(segments), body])
  bytes.write("OggS", "latin1")
  bytes[5] = flags
  bytes[26] = segments.length
  bytes.writeUInt32LE(oggCrc(bytes), 22)
  return bytes
}

const latin = (text: string): Uint8Array => Buffer.from(text, "latin1")

describe("OggReader", () => {
  it.each([1, 2, 26, 27, 100, 100_000])("reads what OggWriter writes in pieces of %i", (step) => {
    const pages = read(written(), step)
    expect(pages.map((page) => page.packets.map((one) => one.length))).toEqual([[19], [1, 254, 255, 256, 510, 0], [3]])
    expect(pages.map((page) => [page.begins, page.ends, page.granule])).toEqual([
      [true, false, 0],
      [false, false, 960],
      [false, true, 1920]
    ])
    expect(pages[1]!.packets[4]).toEqual(packet(510))
    expect(new Set(pages.map((page) => page.serial))).toEqual(new Set([0xfedcba98]))
  })

  it("passes over a damaged page and what lies between pages", () => {
    const bytes = Buffer.from(written())
    bytes[60] = bytes[60]! ^ 1
    const pages = read(Buffer.concat([Buffer.from("OggOggSOggS.."), bytes]), 50)
    expect(pages.map((page) => page.granule)).toEqual([0, 1920])
  })

  it("joins a packet that spans pages, and drops one whose beginning is lost", () => {
    const long = packet(300)
    const first = page(2, [255], long.subarray(0, 255))
    const second = page(1, [45, 5], Buffer.concat([long.subarray(255), packet(5)]))
    expect(read(Buffer.concat([first, second]), 64).flatMap((one) => one.packets)).toEqual([long, packet(5)])
    expect(read(second, 64).flatMap((one) => one.packets)).toEqual([packet(5)])
  })
})

describe("OggOpusDecoder", () => {
  it("reads files joined to one, each to its exact length", async () => {
    const files: Array<Uint8Array> = []
    for (const [serial, samples] of [
      [1, 30_001],
      [2, 48_003]
    ] as const) {
      const encoder = await makeOggOpusEncoder(
        { codec: "opus", sampleRate: 48000, bitsPerSecond: undefined },
        { serial }
      )
      files.push(encoder.encode(new Int16Array(samples)), encoder.finish())
      encoder.close()
    }
    const decoder = makeOggOpusDecoder(44100)
    const pieces = [...(await decoder.decode(Buffer.concat(files))), ...(await decoder.finish())]
    decoder.close()
    expect(new Set(pieces.map((piece) => piece.sampleRate))).toEqual(new Set([48000]))
    expect(pieces.reduce((sum, piece) => sum + piece.samples.length, 0)).toBe(78_004)
  })
})

describe("containerOf", () => {
  it.each([
    ["wav", "RIFF....WAVEfmt "],
    ["wav", "RF64....WAVEds64"],
    ["unknown", "RIFF....AVI LIST"],
    ["flac", "fLaC"],
    ["webm", "\u001aE\u00df\u00a3"],
    ["mp4", "....ftypM4A "],
    ["mp3", "ID3\u0004"],
    ["aac", "\u00ff\u00f1\u0050"],
    ["ogg-other", "OggS"],
    ["unknown", ""],
    ["unknown", "\u00ff"]
  ])("%s", (container, start) => {
    expect(containerOf(latin(start))).toBe(container)
  })
})
