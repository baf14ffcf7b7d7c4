import { describe, expect, it } from "vitest"
import { encodeMuLaw } from "../src/G711.ts"
import { encodeWav, parseWav, wavHeader, wavHeaderBytes } from "../src/Wav.ts"
import { WavError } from "../src/WavReader.ts"

const samples = Int16Array.from({ length: 1001 }, (_, i) => Math.round(20000 * Math.sin(i / 7)))

const chunk = (tag: string, body: Uint8Array, size = body.length) => {
  const head = new Uint8Array(8)
  head.set(Buffer.from(tag, "latin1"))
  new DataView(head.buffer).setUint32(4, size, true)
  return [head, body, new Uint8Array(body.length & 1)]
}

/** A file with any format chunk and extra chunks, written by hand. */
const file = (options: {
  codec: number
  bits: number
  channels?: number
  data: Uint8Array
  dataSize?: number
  before?: ReadonlyArray<readonly [string, Uint8Array]>
  extensible?: boolean
}): Uint8Array => {
  const channels = options.channels ?? 1
  const fmt = new Uint8Array(options.extensible ? 40 : 16)
  const view = new DataView(fmt.buffer)
  view.setUint16(0, options.extensible ? 0xfffe : options.codec, true)
  view.setUint16(2, channels, true)
  view.setUint32(4, 22050, true)
  view.setUint32(8, (22050 * channels * options.bits) / 8, true)
  view.setUint16(12, (channels * options.bits) / 8, true)
  view.setUint16(14, options.bits, true)
  if (options.extensible) view.setUint16(24, options.codec, true)
  const head = Buffer.from("RIFF\0\0\0\0WAVE", "latin1")
  return Buffer.concat([
    head,
    ...(options.before ?? []).flatMap(([tag, body]) => chunk(tag, body)),
    ...chunk("fmt ", fmt),
    ...chunk("data", options.data, options.dataSize)
  ])
}

const bytesOf = (array: Int16Array | Float32Array | Float64Array | Int32Array): Uint8Array =>
  new Uint8Array(array.buffer)

const near = (actual: Int16Array, expected: Int16Array, tolerance: number): void => {
  expect(actual).toHaveLength(expected.length)
  for (let i = 0; i < actual.length; i++) expect(Math.abs(actual[i]! - expected[i]!)).toBeLessThanOrEqual(tolerance)
}

describe("Wav", () => {
  it("reads what it writes", () => {
    expect(parseWav(encodeWav(samples, 24000))).toEqual({ sampleRate: 24000, channels: 1, samples })
  })

  it("writes the exact header, and placeholders for a stream", () => {
    const header = Buffer.from(wavHeader(8000, 1000))
    expect(header.toString("latin1", 0, 4)).toBe("RIFF")
    expect(header.readUInt32LE(4)).toBe(1036)
    expect([header.readUInt32LE(24), header.readUInt32LE(28), header.readUInt32LE(40)]).toEqual([8000, 16000, 1000])
    const stream = Buffer.from(wavHeader(8000))
    expect([stream.readUInt32LE(4), stream.readUInt32LE(40)]).toEqual([0xffffffff, 0xffffffff])
  })

  it("reads a stream's placeholder, an excessive size and a cut sample as far as the bytes go", () => {
    const body = Buffer.from(samples.buffer)
    const streamed = Buffer.concat([wavHeader(16000), body])
    expect(parseWav(streamed).samples).toEqual(samples)
    expect(parseWav(file({ codec: 1, bits: 16, data: body, dataSize: 999_999 })).samples).toEqual(samples)
    expect(parseWav(streamed.subarray(0, streamed.length - 1)).samples).toEqual(samples.subarray(0, 1000))
    expect(parseWav(wavHeader(16000)).samples).toHaveLength(0)
  })

  it("reads other widths and codecs", () => {
    const eight = Uint8Array.from(samples, (x) => (x >> 8) + 128)
    near(parseWav(file({ codec: 1, bits: 8, data: eight })).samples, samples, 256)
    const wide = Int32Array.from(samples, (x) => x * 65536)
    expect(parseWav(file({ codec: 1, bits: 32, data: bytesOf(wide) })).samples).toEqual(samples)
    const packed = Uint8Array.from(
      { length: samples.length * 3 },
      (_, i) => bytesOf(wide)[((i / 3) | 0) * 4 + (i % 3) + 1]!
    )
    expect(parseWav(file({ codec: 1, bits: 24, data: packed })).samples).toEqual(samples)
    const float = Float32Array.from(samples, (x) => x / 32768)
    expect(parseWav(file({ codec: 3, bits: 32, data: bytesOf(float) })).samples).toEqual(samples)
    expect(parseWav(file({ codec: 3, bits: 64, data: bytesOf(Float64Array.from(float)) })).samples).toEqual(samples)
    near(parseWav(file({ codec: 7, bits: 8, data: encodeMuLaw(samples) })).samples, samples, 700)
    expect(parseWav(file({ codec: 1, bits: 16, data: bytesOf(samples), extensible: true })).samples).toEqual(samples)
  })

  it("silences damaged floats and clips loud ones", () => {
    const data = bytesOf(Float32Array.of(NaN, 7, -7, Infinity))
    expect([...parseWav(file({ codec: 3, bits: 32, data })).samples]).toEqual([0, 32767, -32768, 32767])
  })

  it("mixes channels down and skips chunks it does not know, odd ones too", () => {
    const stereo = Int16Array.of(100, 300, -50, -150)
    const wav = parseWav(
      file({ codec: 1, bits: 16, channels: 2, data: bytesOf(stereo), before: [["LIST", new Uint8Array(7)]] })
    )
    expect(wav).toEqual({ sampleRate: 22050, channels: 2, samples: Int16Array.of(200, -100) })
  })

  const refusals: ReadonlyArray<readonly [string, Uint8Array, string]> = [
    ["nothing", new Uint8Array(0), "NotWav"],
    ["text", Buffer.from("this is not sound at all, just words"), "NotWav"],
    ["no data chunk", wavHeader(8000).subarray(0, 36), "Malformed"],
    ["a cut format chunk", wavHeader(8000).subarray(0, 24), "Malformed"],
    ["no format chunk", Buffer.from("RIFF\0\0\0\0WAVEdata\0\0\0\0", "latin1"), "Malformed"],
    ["MP3 inside", file({ codec: 85, bits: 0, data: new Uint8Array(10) }), "Unsupported"],
    ["12 bits", file({ codec: 1, bits: 12, data: new Uint8Array(10) }), "Unsupported"],
    ["no channels", file({ codec: 1, bits: 16, channels: 0, data: new Uint8Array(10) }), "Unsupported"]
  ]
  it.each(refusals)("refuses %s", (_, bytes, reason) => {
    expect(() => parseWav(bytes)).toThrow(expect.objectContaining({ name: "WavError", reason }))
  })

  it("throws nothing but its own error on 5,000 damaged files", () => {
    const good = encodeWav(samples.subarray(0, 40), 16000)
    let seed = 1
    const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below
    for (let i = 0; i < 5000; i++) {
      const bad = good.slice(0, random(good.length + 1))
      for (let k = random(4); k > 0 && bad.length > 0; k--)
        bad[random(Math.min(bad.length, wavHeaderBytes))] = random(256)
      try {
        parseWav(bad)
      } catch (error) {
        expect(error).toBeInstanceOf(WavError)
      }
    }
  })
})
