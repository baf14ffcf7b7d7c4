// Words with times out of a recogniser's tokens: a word begins at a token with a blank, or with the mark U+2581, before
// it. Where the model gives no times there are no words: nothing is made up.
import type { SpokenWord } from "../ports/Transcriber.ts"
import type { Hypothesis } from "./sherpaRuntime.ts"

/** A token without a length of its own sounds this long at most. */
const tokenMs = 240

/** `offsetMs` comes before the hypothesis's own begin; nothing ends after `lengthMs`, counted from there. */
export const wordsOf = (
  { durations = [], timestamps, tokens }: Hypothesis,
  lengthMs: number,
  offsetMs = 0
): ReadonlyArray<SpokenWord> => {
  if (timestamps.length !== tokens.length) return []
  const words: Array<SpokenWord> = []
  let open = false
  for (const [i, token] of tokens.entries()) {
    const startMs = Math.min(lengthMs, (timestamps[i] ?? 0) * 1000)
    const text = token.replaceAll("\u2581", " ")
    const letters = text.trim()
    if (letters === "") {
      open = false
      continue
    }
    const next = (timestamps[i + 1] ?? Number.POSITIVE_INFINITY) * 1000
    const own = (durations[i] ?? 0) > 0 ? startMs + (durations[i] ?? 0) * 1000 : startMs + tokenMs
    const endMs = Math.max(startMs, Math.min(own, next, lengthMs))
    const last = words.at(-1)
    if (open && last !== undefined && !text.startsWith(" ") && !isIdeograph(letters)) {
      words[words.length - 1] = { ...last, text: last.text + letters, endMs: offsetMs + Math.round(endMs) }
    } else {
      words.push({ text: letters, startMs: offsetMs + Math.round(startMs), endMs: offsetMs + Math.round(endMs) })
    }
    open = !text.endsWith(" ")
  }
  return words
}

/** Scripts without blanks: each character is a word. */
const isIdeograph = (text: string): boolean => /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)
