// The other side of the encoder tests: ffmpeg where it is installed, and measures of decoded samples.
import { spawnSync } from "node:child_process"

export const ffmpegMissing = spawnSync("ffmpeg", ["-version"], { stdio: "ignore" }).status !== 0
if (process.env["CI"] === "true" && ffmpegMissing) throw new Error("ffmpeg is missing: apt-get install ffmpeg")

export const tone = (hz: number, sampleRate: number, seconds: number, level: number): Int16Array =>
  Int16Array.from({ length: Math.round(sampleRate * seconds) }, (_, n) =>
    Math.round(32768 * level * Math.sin((2 * Math.PI * hz * n) / sampleRate))
  )

export const rmsOf = (samples: Int16Array): number =>
  Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / samples.length)

/** Hz, from the times of the first and the last rise through zero. */
export const pitchOf = (samples: Int16Array, sampleRate: number): number => {
  const rises: Array<number> = []
  for (let i = 1; i < samples.length; i++) {
    const before = samples[i - 1]!
    const after = samples[i]!
    if (before < 0 && after >= 0) rises.push(i - after / (after - before))
  }
  return ((rises.length - 1) * sampleRate) / (rises.at(-1)! - rises[0]!)
}

export const probe = (bytes: Uint8Array): Record<string, unknown> => {
  const args = ["-v", "error", "-show_entries", "stream=codec_name,sample_rate,channels,bit_rate", "-of", "json", "-"]
  const run = spawnSync("ffprobe", args, { input: bytes })
  const parsed: { streams: ReadonlyArray<Record<string, unknown>> } = JSON.parse(run.stdout.toString())
  return parsed.streams[0] ?? {}
}
