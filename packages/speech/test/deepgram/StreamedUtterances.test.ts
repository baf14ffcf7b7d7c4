import { describe, expect, it } from "vitest"
import { StreamedUtterances } from "../../src/deepgram/StreamedUtterances.ts"

const word = (text: string, startMs: number, endMs = startMs + 100) => ({ text, startMs, endMs })
const piece = (
  startMs: number,
  endMs: number,
  words: ReadonlyArray<ReturnType<typeof word>>,
  fromFinalize = false
) => ({
  startMs,
  endMs,
  words,
  fromFinalize
})
const said = (answered: ReadonlyArray<{ readonly words: ReadonlyArray<{ readonly text: string }> }>) =>
  answered.map(({ words }) => words.map(({ text }) => text).join(" "))

describe("StreamedUtterances", () => {
  it("gives each word to the utterance it was said in, timed from its begin", () => {
    const utterances = new StreamedUtterances()
    utterances.commit(1000)
    utterances.commit(2500)
    expect(utterances.accept(piece(0, 700, [word("one", 100)]))).toEqual([])
    const answered = utterances.accept(piece(700, 2500, [word("two", 800), word("three", 1500)], true))
    expect(said(answered)).toEqual(["one two", "three"])
    expect(answered[1]?.words).toEqual([{ text: "three", startMs: 500, endMs: 600 }])
    expect(utterances.waiting).toBe(0)
  })

  it("does not take an early finalisation for a later commit's", () => {
    const utterances = new StreamedUtterances()
    utterances.commit(1000)
    expect(utterances.giveUp()?.words).toEqual([])
    utterances.commit(3000)
    expect(utterances.accept(piece(0, 1000, [word("late", 500)], true))).toEqual([])
    expect(said(utterances.accept(piece(1000, 2900, [word("two", 2000)], true)))).toEqual(["two"])
  })

  it("forgets what was discarded, whenever it is heard", () => {
    const utterances = new StreamedUtterances()
    utterances.accept(piece(0, 400, [word("early", 100)]))
    utterances.discard(1000)
    expect(utterances.running([word("late", 800)])).toEqual([])
    utterances.accept(piece(400, 1000, [word("late", 800)]))
    utterances.commit(2000)
    expect(said(utterances.accept(piece(1000, 2000, [word("kept", 1200)], true)))).toEqual(["kept"])
  })

  it("keeps word times inside their utterance", () => {
    const utterances = new StreamedUtterances()
    utterances.commit(1000)
    const [only] = utterances.accept(piece(0, 1000, [word("edge", 950, 1100)], true))
    expect(only?.words).toEqual([{ text: "edge", startMs: 950, endMs: 1000 }])
  })
})
