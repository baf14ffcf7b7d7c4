// A text as it is spoken, and where each stretch of it comes from. Spans lie end to end, in order, over the whole
// spoken text and the whole source: every position of one has its counterpart in the other.

/** A stretch of the source and what is said for it. */
export interface Replacement {
  /** Character range of the source, end exclusive. */
  readonly from: number
  readonly to: number
  readonly spoken: string
}

/** A stretch of the spoken text and where it comes from. */
export interface SpokenSpan {
  /** Character range of the spoken text, end exclusive. */
  readonly from: number
  readonly to: number
  /** Character range of the source, end exclusive. */
  readonly sourceFrom: number
  readonly sourceTo: number
  /** The spoken characters are the source's own, one by one. */
  readonly verbatim: boolean
}

/** A spoken text with the map to its source. */
export interface SpokenForm {
  readonly text: string
  readonly spans: ReadonlyArray<SpokenSpan>
}

/** Replacements may come in any order; of two that overlap the one listed first wins. */
export const spokenForm = (source: string, replacements: ReadonlyArray<Replacement>): SpokenForm => {
  const chosen = withoutOverlaps(replacements)
  const spans: Array<SpokenSpan> = []
  const parts: Array<string> = []
  let length = 0
  let at = 0
  const append = (text: string, to: number, verbatim: boolean): void => {
    if (to === at && text === "") return
    spans.push({ from: length, to: length + text.length, sourceFrom: at, sourceTo: to, verbatim })
    parts.push(text)
    length += text.length
    at = to
  }
  for (const { from, spoken, to } of chosen) {
    append(source.slice(at, from), from, true)
    append(spoken, to, false)
  }
  append(source.slice(at), source.length, true)
  return { text: parts.join(""), spans }
}

/** Runs of blanks as one: what blanked-out marks leave behind. */
export const blankRuns = (source: string): ReadonlyArray<Replacement> =>
  [...source.matchAll(/\s{2,}/g)].map((match) => ({
    from: match.index,
    to: match.index + match[0].length,
    spoken: " "
  }))

const withoutOverlaps = (replacements: ReadonlyArray<Replacement>): ReadonlyArray<Replacement> => {
  const ranked = replacements
    .map((replacement, rank) => ({ replacement, rank }))
    .sort((a, b) => a.replacement.from - b.replacement.from || a.rank - b.rank)
  const chosen: Array<{ readonly replacement: Replacement; readonly rank: number }> = []
  for (const next of ranked) {
    // Several long ones may give way to an earlier-listed one that overlaps them all.
    let wins = true
    while (wins) {
      const last = chosen.at(-1)
      if (last === undefined || last.replacement.to <= next.replacement.from) break
      if (last.rank < next.rank) wins = false
      else chosen.pop()
    }
    if (wins) chosen.push(next)
  }
  return chosen.map(({ replacement }) => replacement)
}
