// Sound for detectors that go by loudness: a second of silence, a second of a tone, a second of silence, at 16 kHz.

const tone = Int16Array.from({ length: 16_000 }, (_, n) =>
  Math.round(8000 * Math.sin((2 * Math.PI * 300 * n) / 16_000))
)

const samples = new Int16Array(3 * 16_000)
samples.set(tone, 16_000)

export const loudSentence = { samples, voicedFrom: 16_512, voicedTo: 31_500 }
