// What an encoder costs: CPU milliseconds per second of speech, for every output format, in blocks of 200 ms as the
// encoder threads get them; and the whole way through one (24 kHz speech, resampled and levelled) beside it.
import { makeAudioEncoder } from "@parley/audio/encode/makeAudioEncoder"
import type { OutputFormat } from "@parley/audio/encode/OutputFormat"
import { Leveller } from "@parley/audio/Leveller"
import { Resampler, resample } from "@parley/audio/Resampler"
import { speakToWav } from "@parley/speech/testing/speakToWav"
import { report } from "./report.ts"
import type { Measure } from "./report.ts"

const runs = Number(process.argv[2] ?? 8)
const text = "The quick brown fox jumps over the lazy dog, and then it rests for a while under the old apple tree."
const speech = resample(speakToWav(text, "slt"), 16000, 24000)

const formats: ReadonlyArray<OutputFormat> = [
  { codec: "mp3", sampleRate: 32000, kbps: 64 },
  { codec: "mp3", sampleRate: 44100, kbps: 64 },
  { codec: "mp3", sampleRate: 44100, kbps: 128 },
  { codec: "mp3", sampleRate: 44100, kbps: 192 },
  { codec: "wav", sampleRate: 24000 },
  { codec: "pcm", sampleRate: 24000 },
  { codec: "opus", sampleRate: 48000, bitsPerSecond: 24_000 },
  { codec: "opus", sampleRate: 48000, bitsPerSecond: undefined }
]

const cpuMs = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1000
}

const rows: Array<{ readonly format: string; readonly encoder: number; readonly line: number }> = []
for (const format of formats) {
  const ready = resample(speech, 24000, format.sampleRate)
  const block = format.sampleRate / 5
  const seconds = ready.length / format.sampleRate
  // One more than asked: the first warms the codec.
  for (let run = 0; run <= runs; run++) {
    const encoder = await makeAudioEncoder(format)
    const from = cpuMs()
    for (let at = 0; at < ready.length; at += block) encoder.encode(ready.subarray(at, at + block))
    encoder.finish()
    const encoded = cpuMs()
    encoder.close()
    const resampler = new Resampler(24000, format.sampleRate)
    const leveller = new Leveller(format.sampleRate)
    const again = await makeAudioEncoder(format)
    const before = cpuMs()
    for (let at = 0; at < speech.length; at += 4800) {
      again.encode(leveller.process(resampler.process(speech.slice(at, at + 4800))))
    }
    again.finish()
    const line = (cpuMs() - before) / seconds
    again.close()
    if (run > 0) rows.push({ format: Object.values(format).join(" "), encoder: (encoded - from) / seconds, line })
  }
}

const measures = [...new Set(rows.map((row) => row.format))].flatMap((format): ReadonlyArray<Measure> => {
  const own = rows.filter((row) => row.format === format)
  return [
    { what: `${format}, encoder`, unit: "ms/s", values: own.map((row) => row.encoder) },
    { what: `${format}, whole line`, unit: "ms/s", values: own.map((row) => row.line) }
  ]
})
report("encoders", measures, rows)
