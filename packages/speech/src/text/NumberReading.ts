// Numerals of a language as words: whole, decimal, grouped, or digit by digit where nobody would count that far.
import type { Gender, Noun, SpokenLanguage } from "./SpokenLanguage.ts"

/** Above this many digits a number is read digit by digit. */
const mostDigits = 15

/** A written number as digits, without its marks. */
export interface Numeral {
  readonly whole: string
  readonly fraction: string
}

/** The source of a pattern for one unsigned numeral, grouped or not. */
export const numeralPattern = ({ decimalMark, grouping }: SpokenLanguage): string => {
  const mark = decimalMark === "." ? "\\." : ","
  const foreign = decimalMark === "." ? "" : "|\\d+\\.\\d{1,2}(?!\\d)"
  return `(?:\\d{1,3}(?:[${grouping}]\\d{3})+(?!\\d)(?:${mark}\\d+)?|\\d+${mark}\\d+${foreign}|\\d+)`
}

/** `written` matches `numeralPattern` of the language. */
export const parseNumeral = (written: string, { decimalMark, grouping }: SpokenLanguage): Numeral => {
  const foreign = decimalMark === "," && /^\d+\.\d{1,2}$/.test(written)
  const [whole = "", fraction = ""] = written.split(foreign ? "." : decimalMark)
  return { whole: whole.replace(new RegExp(`[${grouping}]`, "g"), ""), fraction }
}

/** Whether what is counted stands in the singular. */
export const isOne = ({ fraction, whole }: Numeral): boolean => fraction === "" && /^0*1$/.test(whole)

/** As words, decimals digit by digit. */
export const readNumeral = (numeral: Numeral, language: SpokenLanguage): string => {
  const { fraction, whole } = numeral
  const words = readWhole(whole, language)
  return fraction === "" ? words : `${words} ${language.point} ${readFraction(fraction, language)}`
}

/** With what is counted: "one mile", "2.5 miles". */
export const readCount = (numeral: Numeral, noun: Noun, language: SpokenLanguage): string => {
  const name = isOne(numeral) ? noun.one : noun.many
  return `${readBefore(numeral, noun.gender ?? "m", language)} ${name}`
}

/** As it is said in front of a noun of that gender. */
export const readBefore = (numeral: Numeral, gender: Gender, language: SpokenLanguage): string => {
  const { fraction, whole } = numeral
  return fraction === "" && countable(whole) ? language.before(bare(whole), gender) : readNumeral(numeral, language)
}

/** In groups as they were written, each digit on its own. */
export const readDigits = (written: string, language: SpokenLanguage): string =>
  [...written.matchAll(/\d+/g)]
    .map(([group]) => Array.from(group, (digit) => language.cardinal(digit)).join(" "))
    .join(", ")

/** "007" and what is longer than anybody counts is spelled. */
export const readWhole = (digits: string, language: SpokenLanguage): string =>
  countable(digits) ? language.cardinal(bare(digits)) : readDigits(digits, language)

const countable = (digits: string): boolean => digits.length <= mostDigits && !/^0\d/.test(digits)

const bare = (digits: string): string => digits.replace(/^0+(?=\d)/, "")

const readFraction = (digits: string, language: SpokenLanguage): string => {
  const zeros = digits.match(/^0*/)?.[0] ?? ""
  const rest = digits.slice(zeros.length)
  if (language.fractionByDigit || digits.length > 3 || rest === "") return readDigits(digits, language)
  return [...Array.from(zeros, () => language.cardinal("0")), language.cardinal(rest)].join(" ")
}

/** I to XXXIX and the like; `undefined` for what is no proper Roman number. */
export const romanDigits = (roman: string): string | undefined => {
  if (!/^(?=.)M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})$/.test(roman)) return undefined
  const values: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10, L: 50, C: 100, D: 500, M: 1000 }
  let sum = 0
  for (let i = 0; i < roman.length; i++) {
    const value = values[roman[i]!]!
    sum += value < (values[roman[i + 1] ?? ""] ?? 0) ? -value : value
  }
  return String(sum)
}
