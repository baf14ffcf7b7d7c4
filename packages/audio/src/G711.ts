// ITU-T G.711: mu-law (PCMU) and A-law (PCMA), 8 bits per sample at 8 kHz, by table. A code is sign,
// segment (3 bits) and step in the segment (4 bits); mu-law inverts all bits, A-law every second one.

/** Mu-law codes of `samples`, into `out` (a fresh array unless given; at least as long as the input). */
export const encodeMuLaw = (samples: Int16Array, out = new Uint8Array(samples.length)): Uint8Array => {
  for (let i = 0; i < samples.length; i++) out[i] = muLawCodes[(samples[i]! + 32768) >> 2]!
  return out
}

/** Samples of mu-law codes (ITU-T G.711), into `out` (a fresh array unless given; at least as long as the input). */
export const decodeMuLaw = (codes: Uint8Array, out = new Int16Array(codes.length)): Int16Array => {
  for (let i = 0; i < codes.length; i++) out[i] = muLawValues[codes[i]!]!
  return out
}

/** A-law codes of `samples`, into `out` (a fresh array unless given; at least as long as the input). */
export const encodeALaw = (samples: Int16Array, out = new Uint8Array(samples.length)): Uint8Array => {
  for (let i = 0; i < samples.length; i++) out[i] = aLawCodes[(samples[i]! + 32768) >> 3]!
  return out
}

/** Samples of A-law codes (ITU-T G.711), into `out` (a fresh array unless given; at least as long as the input). */
export const decodeALaw = (codes: Uint8Array, out = new Int16Array(codes.length)): Int16Array => {
  for (let i = 0; i < codes.length; i++) out[i] = aLawValues[codes[i]!]!
  return out
}

/** Segments of mu-law double from a biased magnitude of 33 (in 14-bit steps) up to 8191. */
const muLawCode = (value: number): number => {
  const biased = Math.min(Math.abs(value) + 33, 8191)
  const segment = Math.min(7, 26 - Math.clz32(biased))
  const step = (biased >> (segment + 1)) & 0x0f
  return ~((value < 0 ? 0x80 : 0) | (segment << 4) | step) & 0xff
}

const muLawValue = (code: number): number => {
  const plain = ~code & 0xff
  const magnitude = (((((plain & 0x0f) << 1) + 33) << ((plain >> 4) & 7)) - 33) * 4
  return plain & 0x80 ? -magnitude : magnitude
}

/** The two lowest segments of A-law share one slope; the others double. Negative zero is a code of its own. */
const aLawCode = (value: number): number => {
  const magnitude = value < 0 ? -value - 1 : value
  const segment = Math.max(0, 27 - Math.clz32(magnitude))
  const step = (magnitude >> Math.max(1, segment)) & 0x0f
  return ((value < 0 ? 0 : 0x80) | (segment << 4) | step) ^ 0x55
}

const aLawValue = (code: number): number => {
  const plain = code ^ 0x55
  const segment = (plain >> 4) & 7
  const middle = ((plain & 0x0f) << 1) + 1
  const magnitude = (segment === 0 ? middle : (middle + 32) << (segment - 1)) * 8
  return plain & 0x80 ? magnitude : -magnitude
}

const muLawCodes = Uint8Array.from({ length: 16384 }, (_, i) => muLawCode(i - 8192))
const muLawValues = Int16Array.from({ length: 256 }, (_, code) => muLawValue(code))
const aLawCodes = Uint8Array.from({ length: 8192 }, (_, i) => aLawCode(i - 4096))
const aLawValues = Int16Array.from({ length: 256 }, (_, code) => aLawValue(code))
