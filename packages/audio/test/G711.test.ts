import { describe, expect, it } from "vitest"
import { decodeALaw, decodeMuLaw, encodeALaw, encodeMuLaw } from "../src/G711.ts"

/** The codes of digital silence. */
const [muLawSilence, aLawSilence] = [0xff, 0xd5]

const all = Uint8Array.from({ length: 256 }, (_, i) => i)
const ramp = Int16Array.from({ length: 65536 }, (_, i) => i - 32768)
const laws = [
  { name: "mu-law", encode: encodeMuLaw, decode: decodeMuLaw },
  { name: "A-law", encode: encodeALaw, decode: decodeALaw }
]

describe("G711", () => {
  it("has the corner values of the recommendation", () => {
    expect([...encodeMuLaw(Int16Array.of(0, 32767, -32768, -4, 1000, -1000))]).toEqual([
      muLawSilence,
      0x80,
      0x00,
      0x7e,
      0xce,
      0x4e
    ])
    expect([...decodeMuLaw(Uint8Array.of(0x00, 0x80, 0x7f, 0xff, 0x01))]).toEqual([-32124, 32124, 0, 0, -31100])
    expect([...encodeALaw(Int16Array.of(0, 32767, -32768, -1, 1000, -1000))]).toEqual([
      aLawSilence,
      0xaa,
      0x2a,
      0x55,
      0xfa,
      0x7a
    ])
    expect([...decodeALaw(Uint8Array.of(0x2a, 0xaa, 0xd5, 0x55))]).toEqual([-32256, 32256, 8, -8])
  })

  it.each(laws)("$name: every code comes back as itself, except negative zero of mu-law", ({ decode, encode }) => {
    const back = encode(decode(all))
    for (const code of all) expect(back[code]).toBe(code === 0x7f && encode === encodeMuLaw ? 0xff : code)
  })

  it.each(laws)("$name: rises with its input and stays within half a step", ({ decode, encode }) => {
    const out = decode(encode(ramp))
    for (let i = 1; i < out.length; i++) expect(out[i]! >= out[i - 1]!).toBe(true)
    for (let i = 1000; i < out.length - 1000; i++) {
      const error = Math.abs(out[i]! - ramp[i]!)
      if (error > Math.abs(ramp[i]!) / 30 + 16) expect.fail(`${ramp[i]} became ${out[i]}`)
    }
  })

  it.each(laws)("$name: a loud tone keeps at least 36 dB over its noise", ({ decode, encode }) => {
    const tone = Int16Array.from({ length: 8000 }, (_, i) => Math.round(12000 * Math.sin(i * 0.37)))
    const out = decode(encode(tone))
    let signal = 0
    let noise = 0
    for (let i = 0; i < tone.length; i++) {
      signal += tone[i]! ** 2
      noise += (tone[i]! - out[i]!) ** 2
    }
    expect(10 * Math.log10(signal / noise)).toBeGreaterThan(36)
  })

  it("fills the array it is given", () => {
    const out = new Uint8Array(4)
    expect(encodeMuLaw(Int16Array.of(0, 0), out)).toBe(out)
    expect([...out]).toEqual([0xff, 0xff, 0, 0])
  })
})
