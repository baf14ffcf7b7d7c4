// Word times out of character times. Some services count from the begin of the session, some from the sound that came
// in the same message: times that go back although sound came before them are of the second sort.
import type { WordTime } from "../ports/Synthesizer.ts"
import type { CharacterSpans } from "./StreamInputFrame.ts"

/** Gathers the character times of a phrase, frame by frame, into word times. */
export class CharacterClock {
  readonly #letters: Array<{ readonly letter: string; readonly startMs: number; readonly endMs: number }> = []
  #lastMs = 0

  /** `soundMs`: how long the sound before this message is; `withSound`: sound came in the same message. */
  add({ charDurationsMs, charStartTimesMs, chars }: CharacterSpans, soundMs: number, withSound: boolean): void {
    const first = charStartTimesMs[0] ?? 0
    const offsetMs = withSound && first + 1 < this.#lastMs ? soundMs : 0
    for (const [i, char] of chars.entries()) {
      const startMs = offsetMs + (charStartTimesMs[i] ?? 0)
      const endMs = startMs + (charDurationsMs[i] ?? 0)
      this.#lastMs = Math.max(this.#lastMs, endMs)
      for (const letter of char.replaceAll(/\s/g, "")) this.#letters.push({ letter, startMs, endMs })
    }
  }

  /** Undefined unless the letters spell exactly `text`. */
  words(text: string, lengthMs: number): ReadonlyArray<WordTime> | undefined {
    if (this.#letters.map((one) => one.letter).join("") !== text.replaceAll(/\s/g, "")) return undefined
    let at = 0
    let before = 0
    return [...text.matchAll(/\S+/g)].map((match) => {
      const letters = this.#letters.slice(at, at + [...match[0]].length)
      at += letters.length
      const startMs = Math.min(lengthMs, Math.max(before, letters[0]?.startMs ?? before))
      const endMs = Math.min(lengthMs, Math.max(startMs, ...letters.map((letter) => letter.endMs)))
      before = startMs
      return { text: match[0], from: match.index, to: match.index + match[0].length, startMs, endMs, exact: true }
    })
  }
}
