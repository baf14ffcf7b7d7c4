import { describe, expect, it } from "vitest"
import { endOggPage, oggTail } from "../../src/decode/OggTail.ts"
import { OggReader } from "../../src/decode/OggReader.ts"
import { makeOggOpusEncoder } from "../../src/encode/OggOpusEncoder.ts"
import { ffmpegMissing, pitchOf, tone } from "../encode/Judge.ts"
import { spawnSync } from "node:child_process"

const format = { codec: "opus", sampleRate: 48_000, bitsPerSecond: 24_000 } as const

/** A stream of pages of half a second, and how much of it was there before the end. */
const recording = async (inputRate: 8000 | 16_000 | 24_000, seconds: number) => {
  const encoder = await makeOggOpusEncoder(format, { inputRate, packetsPerPage: 25, complexity: 1 })
  const open = encoder.encode(tone(440, inputRate, seconds, 0.5))
  const end = encoder.finish()
  encoder.close()
  return { open: new Uint8Array(open), whole: new Uint8Array(Buffer.concat([open, end])) }
}

describe("oggTail", () => {
  it("knows the length of a finished file, whatever the rate of its input", async () => {
    for (const rate of [8000, 16_000, 24_000] as const) {
      const { whole } = await recording(rate, 3.25)
      expect(oggTail(whole)).toMatchObject({ length: whole.length, durationMs: 3_250 })
    }
  })

  it("keeps everything up to the last whole page, cut at any byte", async () => {
    const { open } = await recording(16_000, 4)
    const all = oggTail(open)
    expect(all?.length).toBe(open.length)
    expect(all?.durationMs).toBeGreaterThan(3_300)
    let kept = 0
    for (let cut = 0; cut <= open.length; cut++) {
      const tail = oggTail(open.subarray(0, cut))
      expect(tail?.length ?? 0).toBeLessThanOrEqual(cut)
      expect(tail?.durationMs ?? 0).toBeGreaterThanOrEqual(kept)
      kept = tail?.durationMs ?? 0
    }
    expect(kept).toBe(all?.durationMs)
  })

  it("gives up what comes after a damaged page, and all of what is no Ogg", async () => {
    const { whole } = await recording(16_000, 4)
    const damaged = whole.slice()
    const at = damaged.length >> 1
    damaged[at] = damaged[at]! ^ 1
    const tail = oggTail(damaged)
    expect(tail?.length).toBeLessThanOrEqual(at)
    expect(tail?.durationMs).toBeGreaterThan(0)
    expect(oggTail(new Uint8Array(0))).toBeUndefined()
    expect(oggTail(new Uint8Array(5_000).fill(0x4f))).toBeUndefined()
    expect(oggTail(new TextEncoder().encode("OggS"))).toBeUndefined()
  })

  it("marks the last page, and a stranger decodes it without a word", async (context) => {
    const { open } = await recording(16_000, 4)
    const cut = open.slice(0, open.length - 10)
    const tail = oggTail(cut)!
    endOggPage(cut.subarray(tail.lastPageAt, tail.length))
    const kept = cut.subarray(0, tail.length)
    const pages = new OggReader().push(kept)
    expect(pages.filter(({ ends }) => ends).length).toBe(1)
    expect(pages.at(-1)?.ends).toBe(true)
    if (ffmpegMissing) return context.skip()
    const args = ["-v", "warning", "-xerror", "-i", "-", "-f", "s16le", "-ar", "16000", "-"]
    const run = spawnSync("ffmpeg", args, { input: kept })
    expect(run.stderr.toString()).toBe("")
    const samples = new Int16Array(run.stdout.buffer, run.stdout.byteOffset, run.stdout.length >> 1)
    expect(Math.abs(samples.length / 16 - tail.durationMs)).toBeLessThanOrEqual(1)
    expect(Math.abs(pitchOf(samples.subarray(16_000, 32_000), 16_000) - 440)).toBeLessThan(2)
  })
})
