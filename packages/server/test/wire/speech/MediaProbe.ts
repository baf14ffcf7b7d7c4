// What ffmpeg reads in our audio: none of our own code measures it.
import { spawnSync } from "node:child_process"

export const ffmpegMissing = spawnSync("ffmpeg", ["-version"], { stdio: "ignore" }).status !== 0
if (process.env["CI"] === "true" && ffmpegMissing) throw new Error("ffmpeg is missing: apt-get install ffmpeg")

export interface MediaFacts {
  readonly codec: string
  readonly sampleRate: number
  readonly channels: number
  /** As stated by the stream; 0 where it states none. */
  readonly bitsPerSecond: number
  /** Of what was decoded. */
  readonly seconds: number
  /** Root mean square, full scale is 1. */
  readonly level: number
  /** What the decoder complained of. */
  readonly complaints: string
}

const most = 256 * 2 ** 20

/** `rawRate`: for bare 16-bit samples, which say nothing of themselves. */
export const probed = (bytes: Uint8Array, rawRate?: number): MediaFacts => {
  const raw = rawRate === undefined ? [] : ["-f", "s16le", "-ar", `${rawRate}`, "-ac", "1"]
  const asked = ["-v", "error", "-show_entries", "stream=codec_name,sample_rate,channels,bit_rate", "-of", "json", "-"]
  const probe = spawnSync(
    "ffprobe",
    [...(rawRate === undefined ? [] : ["-f", "s16le", "-sample_rate", `${rawRate}`]), ...asked],
    { input: bytes }
  )
  const { streams }: { streams?: ReadonlyArray<Readonly<Record<string, string | number>>> } = JSON.parse(
    probe.stdout.toString() || "{}"
  )
  const stream = streams?.[0] ?? {}
  const samples = samplesAt(bytes, 16_000, raw)
  return {
    codec: String(stream["codec_name"] ?? ""),
    sampleRate: Number(stream["sample_rate"] ?? 0),
    channels: Number(stream["channels"] ?? 0),
    bitsPerSecond: Number(stream["bit_rate"] ?? 0),
    seconds: samples.pcm.length / 16_000,
    level:
      Math.sqrt(samples.pcm.reduce((sum, value) => sum + value * value, 0) / Math.max(1, samples.pcm.length)) / 32768,
    complaints: `${probe.stderr.toString()}${samples.complaints}`
  }
}

const samplesAt = (bytes: Uint8Array, rate: number, input: ReadonlyArray<string>) => {
  const args = ["-v", "error", ...input, "-i", "-", "-f", "s16le", "-ac", "1", "-ar", `${rate}`, "-"]
  const { stderr, stdout } = spawnSync("ffmpeg", args, { input: bytes, maxBuffer: most })
  const whole = Buffer.from(stdout)
  return {
    pcm: new Int16Array(whole.buffer, whole.byteOffset, whole.length >> 1),
    complaints: stderr.toString()
  }
}

/** A WAV as ffmpeg writes it from any sound, or another container by its name. */
export const remade = (bytes: Uint8Array, ...args: ReadonlyArray<string>): Uint8Array => {
  const { status, stderr, stdout } = spawnSync("ffmpeg", ["-v", "error", "-i", "-", ...args, "-"], {
    input: bytes,
    maxBuffer: most
  })
  if (status !== 0) throw new Error(stderr.toString())
  return stdout
}
