// Which stretch of audio belongs to which word. The engine prints phones with their end times but no word
// borders, so the phones are laid against each word's own pronunciation by edit distance. Words that get no
// phone that way are interpolated between their neighbours and say so.

/** A phone of the spoken sound; `endMs` from its first sample. */
export interface TimedPhone {
  readonly phone: string
  readonly endMs: number
}

/** When a word sounds, in milliseconds; `exact` where its phones were found. */
export interface WordSpan {
  readonly startMs: number
  readonly endMs: number
  readonly exact: boolean
}

/** The engine's name for silence. */
export const pause = "pau"

/** `0.304`-style pairs of a `-psdur` line, as milliseconds. */
export const parsePhones = (line: string): ReadonlyArray<TimedPhone> =>
  [...line.matchAll(/([a-z]+):(\d+\.\d+)/g)].map((match) => ({ phone: match[1]!, endMs: Number(match[2]) * 1000 }))

/**
 * One span per word. `pronunciations[i]` are the phones of word i spoken alone; `undefined` when not known.
 * Above one edit per two phones nothing is believed and all words share the voiced time by their letters.
 */
export const alignWords = (
  words: ReadonlyArray<string>,
  phones: ReadonlyArray<TimedPhone>,
  pronunciations: ReadonlyArray<ReadonlyArray<string> | undefined>
): ReadonlyArray<WordSpan> => {
  const spoken = voiced(phones)
  const expected = pronunciations.flatMap((list, word) => (list ?? []).map((phone) => ({ phone, word })))
  const first = spoken[0]?.startMs ?? 0
  const last = spoken.at(-1)?.endMs ?? 0
  const spans: Array<WordSpan | undefined> = words.map(() => undefined)
  const path = editPath(
    spoken.map((item) => item.phone),
    expected.map((item) => item.phone)
  )
  if (path.edits * 2 <= Math.max(spoken.length, expected.length)) {
    for (const [i, j] of path.pairs) {
      const { endMs, startMs } = spoken[i]!
      const word = expected[j]!.word
      spans[word] = { startMs: spans[word]?.startMs ?? startMs, endMs, exact: true }
    }
  }
  return interpolate(words, spans, first, last)
}

/** Fills the gaps of `spans`: each run of unknown words shares the time between its known neighbours. */
const interpolate = (
  words: ReadonlyArray<string>,
  spans: ReadonlyArray<WordSpan | undefined>,
  firstMs: number,
  lastMs: number
): ReadonlyArray<WordSpan> => {
  const out: Array<WordSpan> = []
  for (let i = 0; i < words.length;) {
    const known = spans[i]
    if (known !== undefined) {
      out.push(known)
      i++
      continue
    }
    const next = spans.findIndex((span, k) => k > i && span !== undefined)
    const end = next === -1 ? words.length : next
    const from = out.at(-1)?.endMs ?? firstMs
    const to = Math.max(from, next === -1 ? lastMs : spans[next]!.startMs)
    const letters = words.slice(i, end).reduce((sum, word) => sum + word.length + 1, 0)
    let at = from
    for (; i < end; i++) {
      const endMs = at + ((to - from) * (words[i]!.length + 1)) / letters
      out.push({ startMs: at, endMs, exact: false })
      at = endMs
    }
  }
  return out
}

interface HeardPhone extends TimedPhone {
  readonly startMs: number
}

const voiced = (phones: ReadonlyArray<TimedPhone>): ReadonlyArray<HeardPhone> =>
  phones.map((item, i) => ({ ...item, startMs: phones[i - 1]?.endMs ?? 0 })).filter((item) => item.phone !== pause)

/**
 * Cheapest way to turn `a` into `b`. Pairs are index pairs in order: matches and substitutions, and a phone
 * only `a` has goes with the pair before it, so that no spoken phone is orphaned inside a word.
 */
const editPath = (
  a: ReadonlyArray<string>,
  b: ReadonlyArray<string>
): { readonly edits: number; readonly pairs: ReadonlyArray<readonly [number, number]> } => {
  const width = b.length + 1
  const cost = new Uint16Array((a.length + 1) * width)
  for (let i = 0; i <= a.length; i++) cost[i * width] = i
  for (let j = 0; j <= b.length; j++) cost[j] = j
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const replace = cost[(i - 1) * width + j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      cost[i * width + j] = Math.min(replace, cost[(i - 1) * width + j]! + 1, cost[i * width + j - 1]! + 1)
    }
  }
  const pairs: Array<readonly [number, number]> = []
  for (let i = a.length, j = b.length; i > 0 && j > 0;) {
    const here = cost[i * width + j]!
    if (here === cost[(i - 1) * width + j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)) pairs.push([--i, --j])
    else if (here === cost[(i - 1) * width + j]! + 1) pairs.push([--i, j - 1])
    else j--
  }
  return { edits: cost[a.length * width + b.length]!, pairs: pairs.toReversed() }
}
