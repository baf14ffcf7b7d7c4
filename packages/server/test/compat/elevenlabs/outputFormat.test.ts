import { Result } from "effect"
import { describe, expect, it } from "vitest"
import { formatOf } from "../../../src/compat/elevenlabs/outputFormat.ts"

describe("output formats of the ElevenLabs-compatible API", () => {
  it.each([
    ["mp3_44100_128", { format: "mp3", sample_rate: 44_100, mp3_bitrate: 128 }],
    ["mp3_44100_32", { format: "mp3", sample_rate: 44_100, mp3_bitrate: 64 }],
    ["mp3_44100_64", { format: "mp3", sample_rate: 44_100, mp3_bitrate: 64 }],
    ["mp3_44100_96", { format: "mp3", sample_rate: 44_100, mp3_bitrate: 128 }],
    ["mp3_32000_192", { format: "mp3", sample_rate: 32_000, mp3_bitrate: 192 }],
    ["pcm_8000", { format: "pcm", sample_rate: 8_000 }],
    ["pcm_44100", { format: "pcm", sample_rate: 44_100 }],
    ["wav_24000", { format: "wav", sample_rate: 24_000 }],
    ["opus_48000_32", { format: "opus", sample_rate: 48_000 }]
  ])("%s is served", (name, fields) => {
    expect(formatOf(name)).toEqual(Result.succeed(fields))
  })

  it.each([
    ["ulaw_8000", true],
    ["alaw_8000", true],
    ["flac_44100", true],
    ["no_such_format", true],
    ["", true],
    ["mp3", true],
    ["mp3_44100", true],
    ["pcm_16000_128", true],
    ["mp3_44100_128 ", true],
    ["MP3_44100_128", true],
    ["mp3_22050_32", false],
    ["mp3_24000_48", false],
    ["pcm_22050", false],
    ["pcm_48000", false],
    ["wav_22050", false],
    ["opus_24000_32", false],
    ["mp3_44100_256", false]
  ])("%s is refused, before a socket opens: %s", (name, early) => {
    const result = formatOf(name)
    expect(Result.isFailure(result) && result.failure.early).toBe(early)
    expect(Result.isFailure(result)).toBe(true)
  })
})
