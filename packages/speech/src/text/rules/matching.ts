// How a rule is written: a pattern, and what its match sounds like, or nothing when it is not what it seemed.
import type { Replacement } from "../SpokenForm.ts"

/** `pattern` is global. */
export const reading = (
  text: string,
  pattern: RegExp,
  say: (match: RegExpExecArray) => string | undefined
): ReadonlyArray<Replacement> => {
  const found: Array<Replacement> = []
  for (const match of text.matchAll(pattern)) {
    const spoken = say(match)
    if (spoken !== undefined && match[0] !== "")
      found.push({ from: match.index, to: match.index + match[0].length, spoken })
  }
  return found
}

/** The word in front of a match, in lower case. */
export const wordBefore = (match: RegExpExecArray): string =>
  match.input
    .slice(Math.max(0, match.index - 24), match.index)
    .match(/([\p{L}]+)\s+$/u)?.[1]
    ?.toLowerCase() ?? ""

/** One pattern for any of the names, longest first. */
export const anyOf = (names: ReadonlyArray<string>): string =>
  names
    .toSorted((a, b) => b.length - a.length)
    .map((name) => name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"))
    .join("|")
