import { describe, expect, it } from "vitest"
import { RecordedLeg } from "../../src/leg/RecordedLeg.ts"
import { TrackTimeline } from "../../src/leg/TrackTimeline.ts"
import type { Leg, LegListener } from "../../src/leg/Leg.ts"

const rate = 16_000
const frame = (value: number): Int16Array => new Int16Array(320).fill(value)
const loud = frame(5_000)
const still = frame(0)

/** A timeline and all it handed on. */
const track = () => {
  const batches: Array<Int16Array> = []
  const timeline = new TrackTimeline(rate, (silence, samples) => {
    if (silence > 0) batches.push(new Int16Array(silence))
    batches.push(samples.slice())
  })
  const sound = (): Int16Array => {
    const all = new Int16Array(batches.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const batch of batches) {
      all.set(batch, at)
      at += batch.length
    }
    return all
  }
  return { timeline, batches, sound }
}

/** Where sound begins and ends, in milliseconds. */
const spans = (samples: Int16Array): ReadonlyArray<readonly [number, number]> => {
  const found: Array<[number, number]> = []
  let begin = -1
  for (let i = 0; i <= samples.length; i++) {
    const on = i < samples.length && samples[i] !== 0
    if (on && begin < 0) begin = i
    if (!on && begin >= 0) {
      found.push([begin / 16, i / 16])
      begin = -1
    }
  }
  return found
}

describe("TrackTimeline", () => {
  it("keeps frames together over the jitter of a network", () => {
    const { sound, timeline } = track()
    const jitter = [0, 15, 3, 19, 8, 60, 45, 30, 10, 0]
    for (let i = 0; i < 200; i++) {
      timeline.place(frame(i + 1), i * 20 + (jitter[i % jitter.length] ?? 0))
      timeline.advance(i * 20)
    }
    timeline.finish(4_000)
    const all = sound()
    expect(all.length).toBe(64_000)
    for (let i = 0; i < 200; i++) expect(all[i * 320 + 160]).toBe(i + 1)
  })

  it("makes a hole silence where it was", () => {
    const { sound, timeline } = track()
    for (let at = 0; at < 1_000; at += 20) timeline.place(loud, at)
    for (let at = 1_000; at < 5_000; at += 20) timeline.advance(at)
    for (let at = 5_000; at < 6_000; at += 20) timeline.place(loud, at)
    timeline.finish(6_500)
    expect(spans(sound())).toEqual([
      [0, 1_000],
      [5_000, 6_000]
    ])
    expect(sound().length).toBe(6.5 * rate)
  })

  it("says a silence longer than its batch without holding it", () => {
    const { batches, sound, timeline } = track()
    timeline.place(loud, 0)
    timeline.place(loud, 3_600_000)
    timeline.finish(3_600_020)
    expect(batches.length).toBeLessThan(5)
    expect(sound().length).toBe(3_600.02 * rate)
    expect(spans(sound()).at(-1)).toEqual([3_600_000, 3_600_020])
  })

  it("catches up with a clock that runs away slowly", () => {
    const { sound, timeline } = track()
    // One frame in a hundred is missing.
    for (let i = 0; i < 6_000; i++) {
      if (i % 100 !== 99) timeline.place(frame((i % 100) + 1), i * 20)
      timeline.advance(i * 20)
      expect(Math.abs(timeline.positionMs - i * 20)).toBeLessThanOrEqual(60)
    }
    timeline.finish(120_000)
    expect(sound().length).toBe(120 * rate)
  })

  it("takes silence that was made up out again when its sound comes late after all", () => {
    const { timeline } = track()
    for (let at = 0; at < 1_000; at += 20) timeline.place(loud, at)
    // Nothing came: silence by the clock; then the very same time again, as sound.
    for (let at = 1_000; at < 1_160; at += 20) timeline.place(still, at)
    for (let i = 0; i < 8; i++) timeline.place(loud, 1_160)
    expect(timeline.positionMs).toBe(1_320)
    for (let at = 1_160; at < 1_500; at += 20) timeline.place(loud, at)
    for (let at = 1_500; at < 1_700; at += 20) timeline.place(still, at)
    expect(Math.abs(timeline.positionMs - 1_700)).toBeLessThanOrEqual(40)
  })

  it("is never far ahead, whatever comes", () => {
    const { timeline } = track()
    for (let i = 0; i < 1_000; i++) timeline.place(loud, 0)
    expect(timeline.positionMs).toBeLessThanOrEqual(440)
  })

  it("hands on at least twice a second what is there", () => {
    const { batches, timeline } = track()
    for (let at = 0; at < 10_000; at += 20) {
      timeline.place(loud, at)
      timeline.advance(at)
    }
    expect(batches.length).toBeGreaterThanOrEqual(19)
    for (const batch of batches) expect(batch.length).toBeLessThanOrEqual(rate)
  })
})

const sink = () => {
  const kept = { samples: 0, loud: 0 }
  return {
    kept,
    write: (silence: number, samples: Int16Array) => {
      kept.samples += silence + samples.length
      kept.loud += samples.reduce((sum, sample) => sum + (sample === 0 ? 0 : 1), 0)
    }
  }
}

const fakeLeg = () => {
  const played: Array<Int16Array | undefined> = []
  const seen: { listener?: LegListener; closed?: string } = {}
  const leg: Leg = {
    playRate: 24_000,
    attach: (listener) => void (seen.listener = listener),
    play: (sound) => void played.push(sound),
    tell: () => undefined,
    close: (reason) => void (seen.closed = reason)
  }
  return { leg, played, seen }
}

describe("RecordedLeg", () => {
  it("can do whatever its leg can", () => {
    const telephone = { sendDigits: () => undefined, refer: () => Promise.resolve("refused" as const) }
    const options = { user: sink(), agent: sink(), nowMs: () => 0 }
    expect(new RecordedLeg({ ...fakeLeg().leg, telephone }, options).telephone).toBe(telephone)
    expect(new RecordedLeg(fakeLeg().leg, options).telephone).toBeUndefined()
  })

  it("keeps both sides aligned through half an hour with dropped ticks, and hands everything on", () => {
    let now = 500
    const { leg, played, seen } = fakeLeg()
    const [user, agent] = [sink(), sink()]
    const recorded = new RecordedLeg(leg, { user, agent, nowMs: () => now })
    let frames = 0
    let reason = ""
    recorded.attach({
      onFrame: () => void frames++,
      onEvent: () => undefined,
      onDigit: () => undefined,
      onClosed: (how) => void (reason = how)
    })
    const speech = new Int16Array(480).fill(4_000)
    for (let i = 0; i < 90_000; i++) {
      now += 20
      seen.listener?.onFrame(loud)
      // The event loop was late now and then: that tick is gone.
      if (i % 500 !== 7) recorded.play(i % 300 < 150 ? speech : undefined)
    }
    seen.listener?.onClosed("left")
    expect(reason).toBe("left")
    expect(frames).toBe(90_000)
    expect(played.length).toBe(89_820)
    expect(Math.abs(user.kept.samples / 16 - 1_800_000)).toBeLessThanOrEqual(40)
    expect(Math.abs(agent.kept.samples / 24 - 1_800_000)).toBeLessThanOrEqual(40)
    expect(user.kept.loud).toBeGreaterThan(0.999 * 90_000 * 320)
    const after = user.kept.samples
    seen.listener?.onFrame(loud)
    recorded.play(speech)
    recorded.close("user_hangup")
    expect(user.kept.samples).toBe(after)
    expect(seen.closed).toBe("user_hangup")
  })
})
