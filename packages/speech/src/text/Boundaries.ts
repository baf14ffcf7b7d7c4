// Where written text may be cut: after sentences, after clauses, between words. Pure, by the letters alone; knows
// the abbreviations of English, German, French and Spanish. All positions are ends: the blanks after a mark
// belong to what comes before.

/** `complete`: nothing follows the text, so its end needs no blank and no look ahead. */
export const sentenceEnds = (text: string, complete = false): ReadonlyArray<number> => {
  const ends: Array<number> = []
  for (const mark of text.matchAll(/[.!?…]+["'”’»)\]]*\s+|\n+\s*|[。！？]+[”’」』）]*\s*/gu)) {
    const end = mark.index + mark[0].length
    if (isSentenceEnd(text, mark.index, end, complete)) ends.push(end)
  }
  return ends
}

/** Positions after commas, semicolons, colons and dashes, in order. */
export const clauseEnds = (text: string): ReadonlyArray<number> =>
  [...text.matchAll(/[,;:]["'”’»)\]]*\s+|\s[–—-]\s+|[–—]\s*|[，；：、]\s*/gu)]
    .filter((mark) => !betweenDigits(text, mark.index, mark.index + mark[0].length))
    .map((mark) => mark.index + mark[0].length)

/** Between two words, before a small joining word where there is one; 0 when there is no such place. */
export const wordBreak = (text: string, from: number, to: number): number => {
  let joint = 0
  for (const match of text.slice(0, to).matchAll(joiningWords)) if (match.index + 1 >= from) joint = match.index + 1
  if (joint > 0) return joint
  const space = lastSpace(text, to)
  return space >= from ? space : 0
}

/** The last cut at or before `to`: after a blank, else anywhere but inside a number, a sealed mark or a pair. */
export const spaceBefore = (text: string, to: number): number => {
  const space = lastSpace(text, to)
  if (space > 0) return space
  for (let at = to; at > to / 4; at--) {
    const before = text[at - 1] ?? ""
    const after = text[at] ?? ""
    const number = /[\d.,:/-]/.test(before) && /[\d.,:/-]/.test(after)
    if (!number && !(before === "\u0001" && after === "\u0001") && !isHighSurrogate(before)) return at
  }
  return isHighSurrogate(text[to - 1] ?? "") ? to - 1 : to
}

const isHighSurrogate = (unit: string): boolean => unit >= "\uD800" && unit <= "\uDBFF"

/** Rather not after a number or an abbreviation, nor between a name and its number: what belongs together is read together. */
const lastSpace = (text: string, to: number): number => {
  let fallback = 0
  for (let at = to; at > to / 4; at--) {
    if (!/\s/.test(text[at - 1] ?? "") || betweenDigits(text, at - 1, at)) continue
    const numbered =
      /\d/.test(text[at] ?? "") && /(?:^|\s)\p{Lu}\p{L}*$/u.test(text.slice(Math.max(0, at - 16), at - 1))
    if (!numbered && !/[\d.+#$€£§]/.test(text[at - 2] ?? "")) return at
    fallback ||= at
  }
  return fallback
}

/** A blank there may group the digits of one number. */
const betweenDigits = (text: string, from: number, to: number): boolean =>
  /\d/.test(text[from - 1] ?? "") && /\d/.test(text[to] ?? "")

const joiningWords =
  /\s(?:and|but|because|that|which|who|when|while|where|if|so|or|with|before|after|und|aber|weil|dass|oder|wenn|et|mais|parce|que|qui|quand|ou|y|pero|porque|cuando|o|con)\s/giu

/** Not after an abbreviation, an initial, an ordinal, or in front of a lower-case word. */
const isSentenceEnd = (text: string, at: number, end: number, complete: boolean): boolean => {
  if (text[at] !== ".") return true
  const before = text.slice(Math.max(0, at - 16), at)
  const next = text.slice(end).replace(/^["'“„«¿¡([]+/u, "")
  const unknown = next === "" && !complete
  if (/(?:^|[^\d.,])\d{1,2}$/.test(before) && text[at + 1] !== ".") {
    // "the 3. of May": an ordinal, or a sentence that ends in a number.
    return !unknown && !/^\p{Ll}/u.test(next) && !months.test(next)
  }
  if (/^\p{Ll}/u.test(next) && !/\.\.|…/.test(text.slice(at, end))) return false
  if (!abbreviations.test(before) && !initial.test(before)) return true
  return /(?:a\.m|p\.m|etc|usw|\.a|inc|ltd|co)$/i.test(before) && !unknown && /^\p{Lu}|^$/u.test(next)
}

const abbreviations =
  /(?:^|[^\p{L}\p{N}.])(?:dr|mr|mrs|ms|prof|st|no|nos|vs|etc|fig|vol|approx|dept|est|inc|ltd|co|jr|sr|gen|sen|rep|capt|lt|col|sgt|rev|hon|z|d|u|e\.g|i\.e|a\.m|p\.m|z\.b|d\.h|u\.a|o\.ä|usw|bzw|nr|str|ca|evtl|ggf|inkl|zzgl|abs|art|hr|fr|sra|srta|srs|ud|uds|dra|pág|mm|mme|mlle|mgr|av|bd|env|p\.ex|(?:\p{L}\.)+\p{L})$/iu

/** One capital alone: J. Doe. */
const initial = /(?:^|[^\p{L}\p{N}.])\p{Lu}$/u

const months =
  /^(?:jan|feb|mär|mar|apr|mai|may|jun|jul|aug|sep|okt|oct|nov|dez|dec|janv|févr|avr|juin|juil|août|déc|ene|abr|ago|dic)/iu
