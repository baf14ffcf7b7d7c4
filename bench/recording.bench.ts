// What recording costs. On the media thread: nanoseconds for one tick of a call (20 ms heard and 20 ms played) through a
// leg that is recorded, beside a bare one; handing the batches to the thread is in it. In the recorder's thread: how
// many calls it keeps up with, both sides speaking all the time.
import { RecordedLeg } from "@parley/engine/leg/RecordedLeg"
import type { Leg, LegListener } from "@parley/engine/leg/Leg"
import { RecorderThread } from "@parley/app/recording/RecorderThread"
import { speakToWav } from "@parley/speech/testing/speakToWav"
import { resample } from "@parley/audio/Resampler"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { report } from "./report.ts"

const runs = Number(process.argv[2] ?? 20)
const text = "The quick brown fox jumps over the lazy dog, and then it rests for a while under the old apple tree."
const heard = speakToWav(text, "rms")
const played = resample(speakToWav(text, "slt"), 16_000, 24_000)
const ticks = Math.floor(Math.min(heard.length / 320, played.length / 480))
const folder = mkdtempSync(join(tmpdir(), "parley-recording-bench-"))
let files = 0
const fresh = (): string => join(folder, String(files++))

const bare = (): { readonly leg: Leg; readonly hear: (frame: Int16Array) => void } => {
  let listener: LegListener | undefined
  const leg: Leg = {
    playRate: 24_000,
    attach: (given) => void (listener = given),
    play: () => undefined,
    tell: () => undefined,
    close: () => undefined
  }
  return { leg, hear: (frame) => listener?.onFrame(frame) }
}

/** Nanoseconds per tick over a whole text, on a clock that goes with the frames. */
const tickNs = (leg: Leg, hear: (frame: Int16Array) => void, passed: (ms: number) => void): number => {
  let frames = 0
  leg.attach({
    onFrame: () => void frames++,
    onEvent: () => undefined,
    onDigit: () => undefined,
    onClosed: () => undefined
  })
  const from = process.hrtime.bigint()
  for (let i = 0; i < ticks; i++) {
    passed(i * 20)
    hear(heard.subarray(i * 320, (i + 1) * 320))
    leg.play(played.subarray(i * 480, (i + 1) * 480))
  }
  const spent = Number(process.hrtime.bigint() - from)
  if (frames !== ticks) throw new Error("frames were lost")
  leg.close("user_hangup")
  return spent / ticks
}

const rows: Array<{ readonly bareNs: number; readonly recordedNs: number; readonly callsPerThread: number }> = []
const thread = new RecorderThread()
for (let run = 0; run <= runs; run++) {
  const plain = bare()
  const bareNs = tickNs(plain.leg, plain.hear, () => undefined)
  const tapped = bare()
  let now = 0
  const [user, agent] = [thread.open(fresh(), 16_000), thread.open(fresh(), 24_000)]
  // The thread is ready before the clock starts.
  await thread.repair(fresh())
  const recorded = new RecordedLeg(tapped.leg, { user, agent, nowMs: () => now })
  const from = performance.now()
  const recordedNs = tickNs(recorded, tapped.hear, (ms) => void (now = ms))
  const ends = await Promise.all([user.finish(), agent.finish()])
  const spentMs = performance.now() - from
  if (!ends.every((end) => "durationMs" in end)) throw new Error("a track failed")
  // The first warms everything.
  if (run > 0) rows.push({ bareNs, recordedNs, callsPerThread: (ticks * 20) / spentMs })
}
await thread.stop()
rmSync(folder, { recursive: true, force: true })

report(
  "recording",
  [
    { what: "one tick of a bare leg", unit: "ns", values: rows.map((row) => row.bareNs) },
    { what: "one tick of a recorded leg", unit: "ns", values: rows.map((row) => row.recordedNs) },
    {
      what: "calls that one recorder thread keeps up with",
      unit: "calls",
      values: rows.map((row) => row.callsPerThread)
    }
  ],
  rows
)
