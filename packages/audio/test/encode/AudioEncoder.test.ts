// Every output format, judged by ffmpeg: length, tone, level, and that the way of cutting changes no byte.
import { spawnSync } from "node:child_process"
import { describe, expect, it } from "vitest"
import { makeAudioEncoder } from "@parley/audio/encode/makeAudioEncoder"
import { makeOggOpusEncoder } from "@parley/audio/encode/OggOpusEncoder"
import type { AudioEncoder } from "@parley/audio/encode/AudioEncoder"
import type { OutputFormat, PcmRate } from "@parley/audio/encode/OutputFormat"
import { ffmpegMissing, pitchOf, probe, rmsOf, tone } from "./Judge.ts"

const pcmRates: ReadonlyArray<PcmRate> = [8000, 16000, 24000, 32000, 44100]
const formats: ReadonlyArray<OutputFormat> = [
  ...([32000, 44100] as const).flatMap((sampleRate) =>
    ([64, 128, 192] as const).map((kbps) => ({ codec: "mp3", sampleRate, kbps }) as const)
  ),
  ...pcmRates.map((sampleRate) => ({ codec: "wav", sampleRate }) as const),
  ...pcmRates.map((sampleRate) => ({ codec: "pcm", sampleRate }) as const),
  ...[undefined, 24_000, 32_000, 48_000, 64_000].map(
    (bitsPerSecond) => ({ codec: "opus", sampleRate: 48000, bitsPerSecond }) as const
  )
]
const nameOf = (format: OutputFormat): string => Object.values(format).join(" ")

const make = (format: OutputFormat): Promise<AudioEncoder> =>
  format.codec === "opus" ? makeOggOpusEncoder(format, { serial: 7 }) : makeAudioEncoder(format)

const whole = async (format: OutputFormat, samples: Int16Array, cuts: (at: number) => number): Promise<Buffer> => {
  const encoder = await make(format)
  const parts: Array<Uint8Array> = []
  for (let at = 0; at < samples.length;) {
    const step = Math.max(1, cuts(at))
    parts.push(encoder.encode(samples.subarray(at, at + step)))
    at += step
  }
  parts.push(encoder.finish())
  encoder.close()
  encoder.close()
  return Buffer.concat(parts)
}

/** Cuts of 1 to 3000 samples, the same in every run. */
const ragged = (): ((at: number) => number) => {
  let state = 12345
  return () => {
    state = (state * 1103515245 + 12345) & 0x7fffffff
    return 1 + (state % 3000)
  }
}

const ffmpegInput = (format: OutputFormat): ReadonlyArray<string> =>
  format.codec === "pcm" ? ["-f", "s16le", "-ar", String(format.sampleRate), "-ac", "1"] : []

const heard = (format: OutputFormat, bytes: Uint8Array): Int16Array => {
  const args = ["-v", "error", ...ffmpegInput(format), "-i", "pipe:0", "-f", "s16le", "-ac", "1"]
  const run = spawnSync("ffmpeg", [...args, "-ar", String(format.sampleRate), "pipe:1"], {
    input: bytes,
    maxBuffer: 1 << 28
  })
  expect(run.stderr.toString()).toBe("")
  expect(run.status).toBe(0)
  return new Int16Array(run.stdout.buffer.slice(run.stdout.byteOffset, run.stdout.byteOffset + run.stdout.length))
}

/** Sound of the codec before and after the file's own. */
const slackMs: Readonly<Record<OutputFormat["codec"], number>> = { mp3: 90, wav: 0.1, pcm: 0.1, opus: 0.1 }

describe.each(formats.map((format) => [nameOf(format), format] as const))("%s", (_, format) => {
  const { sampleRate } = format
  const samples = tone(440, sampleRate, 1.5, 0.4)

  it("gives the same bytes however the samples are cut", async () => {
    const once = await whole(format, samples, () => samples.length)
    expect((await whole(format, samples, ragged())).equals(once)).toBe(true)
    expect((await whole(format, samples, () => sampleRate / 50)).equals(once)).toBe(true)
  })

  it.skipIf(ffmpegMissing)("is heard by ffmpeg with its length, tone and level, without a click", async () => {
    const out = heard(format, await whole(format, samples, ragged()))
    const lengthMs = (1000 * out.length) / sampleRate
    expect(lengthMs).toBeGreaterThanOrEqual(1499.9)
    expect(lengthMs).toBeLessThanOrEqual(1500 + slackMs[format.codec])
    const middle = out.subarray(Math.round(0.3 * sampleRate), Math.round(1.3 * sampleRate))
    expect(Math.abs(pitchOf(middle, sampleRate) / 440 - 1)).toBeLessThan(0.01)
    expect(Math.abs(rmsOf(middle) / rmsOf(samples) - 1)).toBeLessThan(0.1)
    // A click is a step steeper than the tone ever is: 0.4 of full scale x 2 pi f / rate.
    const steepest = (0.4 * 32768 * 2 * Math.PI * 440) / sampleRate
    let step = 0
    for (let i = 1; i < middle.length; i++) step = Math.max(step, Math.abs(middle[i]! - middle[i - 1]!))
    expect(step).toBeLessThan(1.35 * steepest + 40)
  })

  it.skipIf(ffmpegMissing)("can be heard to the end of what was put in after a drain, and goes on", async () => {
    const encoder = await make(format)
    const first = [encoder.encode(samples)]
    const { bytes, padding } = encoder.drain()
    first.push(bytes)
    expect(padding / sampleRate).toBeLessThan(0.2)
    const early = heard(format, Buffer.concat(first))
    const end = samples.length + (format.codec === "mp3" ? 1105 : 0)
    expect(early.length).toBeGreaterThanOrEqual(end)
    const last = early.subarray(end - Math.round(sampleRate / 20), end - Math.round(sampleRate / 100))
    expect(rmsOf(last)).toBeGreaterThan(0.5 * rmsOf(samples))
    expect(encoder.drain()).toEqual({ bytes: new Uint8Array(0), padding: 0 })
    const rest = [encoder.encode(samples), encoder.finish()]
    encoder.close()
    const all = heard(format, Buffer.concat([...first, ...rest]))
    const wanted = 2 * samples.length + padding
    expect(all.length).toBeGreaterThanOrEqual(wanted)
    expect((1000 * (all.length - wanted)) / sampleRate).toBeLessThanOrEqual(slackMs[format.codec])
  })
})

describe.skipIf(ffmpegMissing)("what ffprobe says", () => {
  it.each([
    [{ codec: "mp3", sampleRate: 44100, kbps: 128 }, "mp3", "44100", "128000"],
    [{ codec: "mp3", sampleRate: 32000, kbps: 192 }, "mp3", "32000", "192000"],
    [{ codec: "wav", sampleRate: 24000 }, "pcm_s16le", "24000", "384000"],
    [{ codec: "opus", sampleRate: 48000, bitsPerSecond: undefined }, "opus", "48000", undefined]
  ] as const)("%o", async (format, codec, rate, bits) => {
    const stream = probe(await whole(format, tone(300, format.sampleRate, 1, 0.3), ragged()))
    expect(stream).toMatchObject({ codec_name: codec, sample_rate: rate, channels: 1 })
    if (bits !== undefined) expect(stream["bit_rate"]).toBe(bits)
  })
})

it("ends an empty file as a file", async () => {
  for (const format of formats) {
    const encoder = await make(format)
    expect(encoder.drain()).toEqual({ bytes: new Uint8Array(0), padding: 0 })
    const bytes = encoder.finish()
    encoder.close()
    if (format.codec === "wav") expect(bytes.length).toBe(44)
    if (format.codec === "pcm") expect(bytes.length).toBe(0)
  }
})
