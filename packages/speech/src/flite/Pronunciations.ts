// How each word sounds alone, asked of the engine once per word and then remembered (bounded). When the
// engine cannot be asked now, the answer is "not known": word times are then interpolated, never late.
import { Effect } from "effect"
import type { FliteWorkers } from "./FliteWorkers.ts"
import type { SpokenToken } from "./SpokenText.ts"

/** Phones of words spoken alone, kept by word. */
export interface Pronunciations {
  /** Phones per token, `undefined` where not known. Never fails. */
  readonly of: (tokens: ReadonlyArray<SpokenToken>) => Effect.Effect<ReadonlyArray<ReadonlyArray<string> | undefined>>
}

const remembered = 5000

/** Asks the workers once for each word; a word that cannot be asked for has no pronunciation. */
export const makePronunciations = (workers: FliteWorkers): Pronunciations => {
  const known = new Map<string, ReadonlyArray<string>>()
  const learn = (word: string, phones: ReadonlyArray<string>) => {
    if (known.size >= remembered) known.delete(known.keys().next().value ?? "")
    known.set(word, phones)
  }
  return {
    of: Effect.fnUntraced(function* (tokens) {
      const words = tokens.map((token) => bare(token.spoken))
      const missing = [...new Set(words)].filter((word) => word !== "" && !known.has(word))
      if (missing.length > 0) {
        const answer = yield* workers
          .run({ _tag: "Pronounce", tokens: missing }, false)
          .pipe(Effect.catch(() => Effect.undefined))
        if (answer?._tag === "Pronounced") {
          for (const [i, word] of missing.entries()) learn(word, answer.phones[i] ?? [])
        }
      }
      return words.map((word) => known.get(word))
    })
  }
}

/** Without the punctuation around it, which would only add pauses. */
const bare = (word: string): string => word.toLowerCase().replace(/^["'([{<]+|["')\]}>,.;:!?]+$/g, "")
