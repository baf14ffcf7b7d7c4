// Word times for an engine that gives none: the words share the audio by their letters, and say so.
import type { WordTime } from "./ports/Synthesizer.ts"

/** One entry per blank-separated word of `text`; never `exact`. */
export const estimateWords = (text: string, lengthMs: number): ReadonlyArray<WordTime> => {
  const words = [...text.matchAll(/\S+/g)]
  const letters = words.reduce((sum, match) => sum + match[0].length + 1, 0)
  let at = 0
  return words.map((match) => {
    const startMs = (at * lengthMs) / letters
    at += match[0].length + 1
    const endMs = (at * lengthMs) / letters
    return { text: match[0], from: match.index, to: match.index + match[0].length, startMs, endMs, exact: false }
  })
}
