import type { SynthesisEvent } from "@parley/speech/Synthesis"
import { describe, expect, it } from "vitest"
import * as TimedAudio from "../../src/http/timedAudio.ts"

const run = (events: ReadonlyArray<SynthesisEvent>): ReadonlyArray<TimedAudio.TimedSound> => {
  let known: TimedAudio.Known
  return events.flatMap((event) => {
    const [next, told] = TimedAudio.step(known, event)
    known = next
    return told
  })
}

const sound: SynthesisEvent = { _tag: "Audio", chunk: 0, offsetMs: 0, bytes: Uint8Array.of(1) }
const times: SynthesisEvent = {
  _tag: "Timing",
  chunk: 0,
  offsetMs: 0,
  content: "“Don't stop,” he said …",
  words: [
    { text: "“Don't", from: 0, to: 6, startMs: 10.4, endMs: 300, exact: true },
    { text: "stop,”", from: 7, to: 13, startMs: 300, endMs: 700, exact: true },
    { text: "…", from: 22, to: 23, startMs: 700, endMs: 700, exact: false }
  ],
  durationMs: 1234.5
}

describe("sound with word times", () => {
  it("says nothing of times before they are known, then in an event of their own, then with each sound", () => {
    const told = run([sound, times, sound, { ...sound, chunk: 1, offsetMs: 1234.5 }])
    expect(told.map(({ alignment, audio, chunk_seq }) => [audio.length, alignment === null, chunk_seq])).toEqual([
      [1, true, 0],
      [0, false, 0],
      [1, false, 0],
      [1, true, 1]
    ])
    expect(told[3]?.chunk_audio_offset_sec).toBe(1.235)
  })

  it("has words without punctuation and apostrophes, and content as it was sent", () => {
    const [, timed] = run([sound, times])
    expect(timed?.content).toBe("“Don't stop,” he said …")
    expect(timed?.alignment).toEqual({
      segments: [
        { text: "Dont", start: 0.01, end: 0.3 },
        { text: "stop", start: 0.3, end: 0.7 }
      ],
      audio_duration: 1.235
    })
  })
})
