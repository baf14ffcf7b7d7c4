import { describe, expect, it } from "@effect/vitest"
import { UtteranceSegmenter } from "../../src/recognition/UtteranceSegmenter.ts"
import type { Utterance } from "../../src/recognition/UtteranceSegmenter.ts"
import { makeRandom } from "../text/Arbitrary.ts"

const window = 512

/** Windows whose samples tell their number; a voice where `voiced` says so. */
const segment = (count: number, voiced: (i: number) => boolean, level: (i: number) => number = () => 1) => {
  const segmenter = new UtteranceSegmenter()
  const utterances: Array<Utterance> = []
  const keep = (utterance: Utterance | undefined) => utterance !== undefined && utterances.push(utterance)
  for (let i = 0; i < count; i++) {
    keep(segmenter.push(new Int16Array(window).fill(level(i)), voiced(i) ? 0.9 : 0.1))
  }
  keep(segmenter.finish())
  return utterances.map(({ samples, startSample }) => {
    const from = startSample / window
    return { from, to: from + samples.length / window }
  })
}

describe("UtteranceSegmenter", () => {
  it("finds nothing in silence", () => {
    expect(segment(500, () => false)).toEqual([])
  })

  it("gives an utterance a lead of 200 ms and a trail of 300 ms", () => {
    expect(segment(200, (i) => i >= 50 && i < 80)).toEqual([{ from: 43, to: 90 }])
  })

  it("cuts at pauses of half a second, not at shorter ones, without overlap", () => {
    expect(segment(200, (i) => (i >= 50 && i < 60) || (i >= 70 && i < 80))).toEqual([{ from: 43, to: 90 }])
    expect(segment(200, (i) => (i >= 50 && i < 60) || (i >= 76 && i < 80))).toEqual([
      { from: 43, to: 70 },
      { from: 70, to: 90 }
    ])
  })

  it("ends with the recording", () => {
    expect(segment(60, (i) => i >= 2)).toEqual([{ from: 0, to: 60 }])
  })

  it("cuts what is longer than 25 s at the quietest place of its last part", () => {
    const spans = segment(
      1000,
      () => true,
      (i) => (i >= 700 && i < 705 ? 10 : i >= 300 && i < 305 ? 1 : 1000)
    )
    expect(spans[0]).toEqual({ from: 0, to: 703 })
    expect(spans[1]).toEqual({ from: 703, to: 1000 })
  })

  it("keeps every voice in exactly one utterance of at most 25 s, whatever comes", () => {
    for (let seed = 1; seed < 60; seed++) {
      const { next } = makeRandom(seed)
      let voice = false
      const voiced = Array.from({ length: 3000 }, () => {
        if (next(seed) === 0) voice = !voice
        return voice
      })
      const spans = segment(
        3000,
        (i) => voiced[i]!,
        () => next(2000)
      )
      for (const [i, { from, to }] of spans.entries()) {
        expect(to - from).toBeLessThanOrEqual(781)
        expect(from).toBeGreaterThanOrEqual(spans[i - 1]?.to ?? 0)
      }
      for (const [i, isVoice] of voiced.entries()) {
        if (isVoice) expect(spans.some(({ from, to }) => from <= i && i < to)).toBe(true)
      }
    }
  })
})
