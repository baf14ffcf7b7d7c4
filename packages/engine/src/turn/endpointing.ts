// Endpointing: how long to wait after the last voiced sample before the caller's turn counts as over; and how much
// voice interrupts the agent. All times in milliseconds.
import type { ConversationRules } from "../CallPlan.ts"

/** Longest wait for an unfinished sentence where the agent's settings name none. */
const ownMaxWaitMs = 2_000

const pace = { relaxed: 1.5, balanced: 1, eager: 0.7 } as const

/**
 * `responseWaitMs` for a sentence that may be complete; up to `responseMaxWaitMs` for one that plainly
 * goes on: it ends in a joining word, a filler, a comma, or inside a number or an address being spelled.
 */
export const waitAfter = (text: string, rules: ConversationRules): number => {
  const base = rules.responseWaitMs * pace[rules.eagerness]
  const longest = Math.max(base, rules.responseMaxWaitMs ?? ownMaxWaitMs)
  return Math.min(longest, base * stretch(text))
}

const stretch = (text: string): number => {
  const said = text.trim().toLowerCase()
  if (said === "") return 1
  if (/[.!?]$/.test(said)) return 1
  if (/[,:;-]$|\.\.\.$|…$/.test(said)) return 2
  const words = said
    .replace(/[^\p{L}\p{N}'@ ]/gu, " ")
    .split(/\s+/)
    .filter((w) => w !== "")
  const last = words.at(-1) ?? ""
  if (hesitations.has(last)) return 3
  if (joiners.has(last)) return 2.5
  return spelling(words) ? 2.5 : 1
}

/** A row of digits or single letters is still being dictated until it is long enough to be whole. */
const spelling = (words: ReadonlyArray<string>): boolean => {
  let run = 0
  for (let i = words.length - 1; i >= 0 && (digits.has(words[i] ?? "") || /^(\d+|\p{L})$/u.test(words[i] ?? "")); i--)
    run++
  return run >= 2 && run < 10
}

const hesitations = new Set("um uh uhm erm hmm äh ähm euh eh pues".split(" "))

const joiners = new Set(
  (
    "and or but so because if when while that which who of to for from with without at in on by into about than " +
    "the a an my your his her our their this these those is are was were i'm it's " +
    "und oder aber weil dass wenn mit für von zu der die das ein eine mein meine " +
    "et ou mais parce que si avec pour de à le la les un une mon ma " +
    "y o pero porque si con para de a el la los las un una mi"
  ).split(" ")
)

const digits = new Set(
  (
    "zero oh one two three four five six seven eight nine " +
    "null eins zwei drei vier fünf sechs sieben acht neun " +
    "un deux trois quatre cinq six sept huit neuf cero uno dos tres cuatro cinco seis siete ocho nueve"
  ).split(" ")
)

/** Voice that pauses the reply while it is still open whether words follow. */
export const pauseReplyAfterMs = { low: 500, balanced: 160, high: 96 } as const

/** Words that stop the reply for good. */
export const wordsToInterrupt = { low: 2, balanced: 1, high: 1 } as const

/** Noise without a word keeps the reply paused no longer than this. */
export const noiseLimitMs = 2_500
