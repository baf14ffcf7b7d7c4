// When each character of a text sounds, from when its words do: the characters of a word share its time, those
// between two words share the time between them. One character is one code point.
import type { TimedWord } from "./SynthesisRequest.ts"

/** Times in milliseconds, one of each for every character. */
export interface CharacterTimes {
  readonly characters: ReadonlyArray<string>
  readonly startsMs: ReadonlyArray<number>
  readonly endsMs: ReadonlyArray<number>
}

/** The characters spell `content`; times lie in [0, durationMs] and never go back. `words` are in order. */
export const characterTimes = (
  content: string,
  words: ReadonlyArray<Pick<TimedWord, "from" | "to" | "startMs" | "endMs">>,
  durationMs: number
): CharacterTimes => {
  const characters: Array<string> = []
  const startsMs: Array<number> = []
  const endsMs: Array<number> = []
  let at = 0
  let nowMs = 0
  const spell = (to: number, untilMs: number): void => {
    const letters = Array.from(content.slice(at, to))
    const end = Math.min(Math.max(untilMs, nowMs), Math.max(nowMs, durationMs))
    for (const [i, letter] of letters.entries()) {
      characters.push(letter)
      startsMs.push(nowMs + ((end - nowMs) * i) / letters.length)
      endsMs.push(i + 1 === letters.length ? end : nowMs + ((end - nowMs) * (i + 1)) / letters.length)
    }
    if (letters.length > 0) nowMs = end
    at = Math.max(at, to)
  }
  for (const word of words) {
    spell(word.from, word.startMs)
    // The first word may start late with nothing before it.
    nowMs = Math.min(Math.max(nowMs, word.startMs), Math.max(nowMs, durationMs))
    spell(word.to, word.endMs)
  }
  spell(content.length, durationMs)
  return { characters, startsMs, endsMs }
}
