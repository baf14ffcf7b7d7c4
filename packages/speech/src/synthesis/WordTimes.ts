// When each word of the caller's text sounds, from what an engine said about the text it was given. The engine's
// words are those of the spoken form; the caller's are told apart by blanks. Several spoken words of one written
// word become one; one spoken word that stands for several written ones is shared among them.
import type { WordTime } from "../ports/Synthesizer.ts"
import type { TimedWord } from "./SynthesisRequest.ts"
import type { SpokenForm, SpokenSpan } from "../text/SpokenForm.ts"
import { estimateWords } from "../WordEstimate.ts"

/** A text and its spoken form. */
export interface TimedText {
  readonly content: string
  /** `content` with everything unspoken blanked out, same length. */
  readonly plain: string
  readonly form: SpokenForm
}

/**
 * Without `engineWords` words the times are estimated. All times lie in [0, durationMs] and never go back; a written
 * word of which nothing is spoken is left out.
 */
export const timeWords = (
  { content, form, plain }: TimedText,
  engineWords: ReadonlyArray<WordTime>,
  durationMs: number
): ReadonlyArray<TimedWord> => {
  const known = engineWords.length > 0 ? engineWords : estimateWords(form.text, durationMs)
  const ranges = spokenRanges(form, tokensOf(plain))
  const words: Array<TimedWord> = []
  let cursor = 0
  let startMs = 0
  let endMs = 0
  for (const { exact, from, spokenFrom, spokenTo, to } of ranges) {
    while (cursor < known.length && known[cursor]!.to <= spokenFrom) cursor++
    const first = known[cursor]
    if (first === undefined || first.from >= spokenTo) continue
    let last = first
    let allExact = exact
    for (let i = cursor; i < known.length && known[i]!.from < spokenTo; i++) {
      last = known[i]!
      allExact &&= last.exact
    }
    startMs = clamp(timeAt(first, Math.max(spokenFrom, first.from)), startMs, durationMs)
    endMs = clamp(timeAt(last, Math.min(spokenTo, last.to)), Math.max(startMs, endMs), durationMs)
    words.push({ text: content.slice(from, to), from, to, startMs, endMs, exact: allExact })
  }
  return words
}

interface Range {
  readonly from: number
  readonly to: number
}

interface SpokenRange extends Range {
  readonly spokenFrom: number
  readonly spokenTo: number
  /** False where the range is a share by letters. */
  readonly exact: boolean
}

/** Scripts written without blanks are told apart by the word rules of Unicode. */
const tokensOf = (plain: string): ReadonlyArray<Range> =>
  [...plain.matchAll(/\S+/g)].flatMap((match): ReadonlyArray<Range> => {
    const from = match.index
    if (!unspaced.test(match[0])) return [{ from, to: from + match[0].length }]
    const tokens: Array<Range> = []
    for (const { index, isWordLike, segment } of segmenter.segment(match[0])) {
      const last = tokens.at(-1)
      // Punctuation goes with the word before it.
      if (isWordLike === true || last === undefined) {
        tokens.push({ from: from + index, to: from + index + segment.length })
      } else tokens[tokens.length - 1] = { from: last.from, to: from + index + segment.length }
    }
    return tokens
  })

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" })

const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

const spokenRanges = (form: SpokenForm, tokens: ReadonlyArray<Range>): ReadonlyArray<SpokenRange> => {
  const ranges: Array<SpokenRange> = []
  let at = 0
  for (const token of tokens) {
    while (at < form.spans.length && form.spans[at]!.sourceTo <= token.from) at++
    let spokenFrom = Number.POSITIVE_INFINITY
    let spokenTo = 0
    let exact = true
    for (let i = at; i < form.spans.length && form.spans[i]!.sourceFrom < token.to; i++) {
      const part = share(form, form.spans[i]!, token, tokens)
      exact &&= part.exact
      spokenFrom = Math.min(spokenFrom, part.from)
      spokenTo = Math.max(spokenTo, part.to)
    }
    if (spokenTo > spokenFrom) ranges.push({ ...token, spokenFrom, spokenTo, exact })
  }
  return ranges
}

/** The part of a span's spoken text that belongs to the token. */
const share = (
  form: SpokenForm,
  span: SpokenSpan,
  token: Range,
  tokens: ReadonlyArray<Range>
): Range & { readonly exact: boolean } => {
  const from = Math.max(token.from, span.sourceFrom)
  const to = Math.min(token.to, span.sourceTo)
  if (span.verbatim) {
    const shift = span.from - span.sourceFrom
    return { from: from + shift, to: to + shift, exact: true }
  }
  if (token.from <= span.sourceFrom && token.to >= span.sourceTo) return { from: span.from, to: span.to, exact: true }
  const within = tokens.filter((other) => other.from < span.sourceTo && other.to > span.sourceFrom)
  const spoken = [...form.text.slice(span.from, span.to).matchAll(/\S+/g)]
  const rank = within.indexOf(token)
  const own = spoken[rank]
  if (within.length === spoken.length && own !== undefined) {
    return { from: span.from + own.index, to: span.from + own.index + own[0].length, exact: true }
  }
  const scale = (span.to - span.from) / (span.sourceTo - span.sourceFrom)
  return {
    from: span.from + (from - span.sourceFrom) * scale,
    to: span.from + (to - span.sourceFrom) * scale,
    exact: false
  }
}

const timeAt = (word: WordTime, position: number): number =>
  word.to <= word.from
    ? word.startMs
    : word.startMs + ((word.endMs - word.startMs) * (position - word.from)) / (word.to - word.from)

const clamp = (value: number, low: number, high: number): number =>
  Number.isFinite(value) ? Math.min(Math.max(value, low), Math.max(low, high)) : low
