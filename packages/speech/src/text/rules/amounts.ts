// Money, percent, units, ranges of them, and bare numbers.
import { isOne, numeralPattern, parseNumeral, readBefore, readCount, readNumeral, readWhole } from "../NumberReading.ts"
import type { Numeral } from "../NumberReading.ts"
import type { Currency, Noun, SpokenLanguage } from "../SpokenLanguage.ts"
import type { Replacement } from "../SpokenForm.ts"
import { anyOf, reading, wordBefore } from "./matching.ts"

const blank = "[ \\u00a0\\u202f]?"
const start = "(?<![\\p{L}\\p{N}]|\\d[.,])"
const end = "(?![\\p{L}\\p{N}])"

/** Amounts and numbers in `text`. Replacements may overlap: the one listed first wins. */
export const amounts = (text: string, language: SpokenLanguage): ReadonlyArray<Replacement> => {
  const numeral = numeralPattern(language)
  const sign = `(?<sign>(?<![\\p{L}\\p{N})])[-−–])?`
  const range = `(?<first>${numeral})(?:${blank}[-–]${blank}(?<second>${numeral}))?`
  const scale = `(?:${blank}(?<scale>${anyOf(Object.keys(language.scales))})(?![\\p{L}]))?`
  const currency = anyOf(Object.keys(language.currencies))
  const unit = anyOf(Object.keys(language.units))
  const numbers = ({ groups }: RegExpExecArray) => ({
    minus: groups?.["sign"] === undefined ? "" : `${language.minus} `,
    first: parseNumeral(groups?.["first"] ?? "", language),
    second: groups?.["second"] === undefined ? undefined : parseNumeral(groups["second"], language),
    scale: groups?.["scale"],
    of: groups?.["of"] ?? ""
  })
  const money = (match: RegExpExecArray): string => {
    const { first, minus, of, scale, second } = numbers(match)
    const sum = language.currencies[of]!
    const from = second === undefined ? "" : `${readNumeral(first, language)} ${language.to} `
    return minus + from + readSum(second ?? first, sum, scale, language)
  }
  const counted = (match: RegExpExecArray, noun: Noun): string => {
    const { first, minus, second } = numbers(match)
    const from = second === undefined ? "" : `${readNumeral(first, language)} ${language.to} `
    return minus + from + readCount(second ?? first, noun, language)
  }
  return [
    ...reading(text, pattern(`${start}${sign}(?<of>${currency})${blank}${range}${scale}${end}`), money),
    ...reading(text, pattern(`${start}${sign}${range}${scale}${blank}(?<of>${currency})${end}`), money),
    ...reading(text, pattern(`${start}${sign}${range}${blank}%`), (match) =>
      counted(match, { one: language.percent, many: language.percent })
    ),
    ...reading(text, pattern(`${start}${sign}${range}${blank}(?<of>${unit})${end}`), (match) =>
      counted(match, language.units[numbers(match).of]!)
    ),
    ...reading(
      text,
      /(?<![\p{L}\p{N}.,/])(\d{1,2})\/(\d{1,2})(?![\p{L}\p{N}/])/gu,
      ([written]) => language.fractions[written]
    ),
    ...reading(text, /(?:(?<![\p{L}\p{N}.,])(\d{1,6}) ?)?([½¼¾⅓⅔])/gu, ([, whole, sign]) => {
      const part = language.fractions[sign!]!
      return whole === undefined ? part : `${readWhole(whole, language)} ${language.and} ${part}`
    }),
    ...reading(
      text,
      pattern(`${start}(?<first>${numeral})${blank}[–-]${blank}(?<second>${numeral})${end}`),
      (match) => {
        const { first, second } = numbers(match)
        if (second === undefined || !rises(first, second)) return undefined
        const years = isYear(match.groups?.["second"], "in") && isYear(match.groups?.["first"], "in")
        const said = years ? language.year : undefined
        const say = (number: Numeral) => said?.(number.whole) ?? readNumeral(number, language)
        return `${say(first)} ${language.to} ${say(second)}`
      }
    ),
    ...reading(text, pattern(`${start}${sign}(?<first>${numeral})${end}`), (match) => {
      const { first, minus } = numbers(match)
      const written = match.groups?.["first"]
      if (minus === "" && isYear(written, wordBefore(match))) return language.year(first.whole)
      const next = match.input.slice(match.index + match[0].length).match(/^[ \u00a0](\p{L}+)/u)?.[1]
      const gender = next === undefined ? undefined : language.genderOf?.(next)
      return minus + (gender === undefined ? readNumeral(first, language) : readBefore(first, gender, language))
    }),
    // 24/7, 9/11
    ...reading(text, /(?<=\d)\/(?=\d)/g, () => " ")
  ]
}

const compiled = new Map<string, RegExp>()

/** A dozen of them per language, made once. */
const pattern = (source: string): RegExp => {
  const known = compiled.get(source) ?? new RegExp(source, "gu")
  compiled.set(source, known)
  return known
}

/** Four digits that everybody takes for a year, or that a word in front makes one. */
const isYear = (written: string | undefined, before: string): boolean =>
  /^(?:19|20)\d\d$/.test(written ?? "") || (/^1[1-8]\d\d$/.test(written ?? "") && yearWords.test(before))

const yearWords =
  /^(?:in|since|by|until|till|from|of|year|after|before|circa|around|im|jahr|jahre|seit|bis|von|um|anno|nach|vor|en|depuis|an|année|desde|hasta|año)$/

/** 3-5 is a range, 2-1 a result. */
const rises = (first: Numeral, second: Numeral): boolean =>
  Number(`${first.whole}.${first.fraction || 0}`) < Number(`${second.whole}.${second.fraction || 0}`)

const readSum = (sum: Numeral, currency: Currency, scale: string | undefined, language: SpokenLanguage): string => {
  if (scale !== undefined) {
    return `${readCount(sum, language.scales[scale]!, language)} ${language.scaleJoint(currency.many)}`
  }
  const { cent } = currency
  if (cent === undefined || sum.fraction.length !== 2) return readCount(sum, currency, language)
  const cents: Numeral = { whole: sum.fraction.replace(/^0/, ""), fraction: "" }
  const whole: Numeral = { whole: sum.whole, fraction: "" }
  if (cents.whole === "0") return readCount(whole, currency, language)
  const small = `${readBefore(cents, cent.gender ?? "m", language)} ${isOne(cents) ? cent.one : cent.many}`
  return /^0+$/.test(sum.whole) ? small : `${readCount(whole, currency, language)} ${language.centsJoint} ${small}`
}
