import { afterEach, describe, expect, it } from "vitest"
import { oggTail } from "@parley/audio/decode/OggTail"
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { RecorderThread } from "../../src/recording/RecorderThread.ts"

const folder = mkdtempSync(join(tmpdir(), "parley-recorder-"))
const threads: Array<RecorderThread> = []
const begin = (program?: string): RecorderThread => {
  const thread = new RecorderThread(program === undefined ? undefined : new URL(program, import.meta.url))
  threads.push(thread)
  return thread
}
afterEach(async () => {
  for (const thread of threads.splice(0)) await thread.stop()
  rmSync(folder, { recursive: true, force: true })
})

let files = 0
const fresh = (): string => join(mkdtempSync(join(tmpdir(), "parley-recorder-")), `track-${files++}`)

const half = (rate: number): Int16Array =>
  Int16Array.from({ length: rate / 2 }, (_, n) => Math.round(8_000 * Math.sin((2 * Math.PI * 300 * n) / rate)))

const grown = async (path: string, bytes: number): Promise<void> => {
  const limit = performance.now() + 20_000
  for (;;) {
    try {
      if (statSync(path).size >= bytes) return
    } catch {
      // Not opened yet.
    }
    if (performance.now() > limit) throw new Error("the file does not grow")
    await new Promise((tick) => setTimeout(tick, 10))
  }
}

describe("RecorderThread", () => {
  it("writes tracks of several rates side by side, each as long as its sound and silence", async () => {
    const thread = begin()
    const tracks = ([8000, 16_000, 24_000] as const).map((rate) => {
      const path = fresh()
      return { rate, path, track: thread.open(path, rate) }
    })
    for (let i = 0; i < 6; i++) for (const { rate, track } of tracks) track.write(i === 3 ? 2 * rate : 0, half(rate))
    for (const { path, track } of tracks) {
      expect(await track.finish()).toEqual({ durationMs: 5_000 })
      const file = readFileSync(path)
      expect(oggTail(file)).toMatchObject({ length: file.length, durationMs: 5_000 })
      expect(statSync(path).mode & 0o777).toBe(0o600)
    }
  })

  it("has sound on the disk while the call runs, and makes it whole when its writer is gone", async () => {
    const path = fresh()
    const first = begin()
    const track = first.open(path, 16_000)
    for (let i = 0; i < 8; i++) track.write(0, half(16_000))
    await grown(path, 6_000)
    await first.stop()
    expect(await track.finish()).toEqual({ errorCode: "recorder_lost" })
    const torn = readFileSync(path)
    writeFileSync(path, torn.subarray(0, torn.length - 7))
    const second = begin()
    const repaired = await second.repair(path)
    expect(repaired?.found).toBe(true)
    expect(repaired?.durationMs).toBeGreaterThan(500)
    expect(oggTail(readFileSync(path))).toMatchObject({ length: statSync(path).size, durationMs: repaired?.durationMs })
    // Again: nothing changes.
    expect(await second.repair(path)).toMatchObject({ durationMs: repaired?.durationMs, found: true })
  })

  it("tells a file without sound from none", async () => {
    const thread = begin()
    const path = fresh()
    expect(await thread.repair(path)).toMatchObject({ durationMs: 0, found: false })
    writeFileSync(path, "OggS")
    expect(await thread.repair(path)).toMatchObject({ durationMs: 0, found: true })
  })

  it("fails the track whose place cannot be written, and no other", async () => {
    const thread = begin()
    const bad = thread.open(join(folder, "nowhere", "track"), 16_000)
    const path = fresh()
    const good = thread.open(path, 16_000)
    for (const track of [bad, good]) track.write(0, half(16_000))
    expect(await good.finish()).toEqual({ durationMs: 500 })
    expect(await bad.finish()).toEqual({ errorCode: "storage_failed" })
  })

  it("gives a track up that is ten seconds behind", async () => {
    const track = begin("./stuckThread.ts").open(fresh(), 16_000)
    for (let i = 0; i < 21; i++) track.write(0, half(16_000))
    expect(await track.finish()).toEqual({ errorCode: "recorder_overloaded" })
  })

  it("loses its tracks with the thread, and goes on with another one", async () => {
    const thread = begin("./dyingThread.ts")
    const track = thread.open(fresh(), 16_000)
    const other = thread.open(fresh(), 16_000)
    track.write(0, half(16_000))
    expect(await track.finish()).toEqual({ errorCode: "recorder_lost" })
    expect(await other.finish()).toEqual({ errorCode: "recorder_lost" })
    expect(await thread.repair(fresh())).toMatchObject({ durationMs: 700 })
  })
})
