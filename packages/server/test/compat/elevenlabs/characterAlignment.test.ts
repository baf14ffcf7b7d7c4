import type { SynthesisEvent } from "@parley/speech/Synthesis"
import { describe, expect, it } from "vitest"
import * as Characters from "../../../src/compat/elevenlabs/characterAlignment.ts"

const audio = (chunk: number, offsetMs: number): SynthesisEvent => ({
  _tag: "Audio",
  chunk,
  offsetMs,
  bytes: Uint8Array.of(chunk)
})
const word = (text: string, from: number, startMs: number, endMs: number) => ({
  text,
  from,
  to: from + text.length,
  startMs,
  endMs,
  exact: true
})
const timing = (chunk: number, offsetMs: number, content: string, endMs: number): SynthesisEvent => ({
  _tag: "Timing",
  chunk,
  offsetMs,
  content,
  words: [word(content.trim(), 0, 0, endMs)],
  durationMs: endMs
})

const run = (events: ReadonlyArray<SynthesisEvent>): ReadonlyArray<string> => {
  let pending = Characters.begin()
  const pieces: Array<Characters.AlignedPiece> = []
  for (const event of events) {
    const [next, out] = Characters.step(pending, event)
    pending = next
    pieces.push(...out)
  }
  pieces.push(...Characters.finish(pending))
  return pieces.map((one) =>
    one._tag === "Sound" ? `sound ${one.bytes[0]}` : `${one.alignment.characters.join("")}@${one.alignment.startsMs[0]}`
  )
}

describe("characters on one timeline", () => {
  it("gives each chunk once, with the last of its times, as the next one begins or at the end", () => {
    expect(
      run([
        audio(0, 0),
        timing(0, 0, "Hi ", 100),
        audio(0, 0),
        timing(0, 0, "Hi ", 200),
        audio(1, 200),
        timing(1, 200, "you", 100)
      ])
    ).toEqual(["sound 0", "sound 0", "Hi @0", "sound 1", "you@200"])
  })

  it("gives what is pending at a flush", () => {
    expect(run([audio(0, 0), timing(0, 0, "Hi ", 100), { _tag: "Flushed" }, audio(1, 100)])).toEqual([
      "sound 0",
      "Hi @0",
      "sound 1"
    ])
  })

  it("says seconds on REST and milliseconds with durations on the socket", () => {
    const alignment = { characters: ["a", "b"], startsMs: [100.4, 250], endsMs: [250, 400.2] }
    expect(Characters.inSeconds(alignment)).toEqual({
      characters: ["a", "b"],
      character_start_times_seconds: [0.1, 0.25],
      character_end_times_seconds: [0.25, 0.4]
    })
    expect(Characters.inMilliseconds(alignment)).toEqual({
      chars: ["a", "b"],
      charStartTimesMs: [100, 250],
      charDurationsMs: [150, 150]
    })
  })
})
