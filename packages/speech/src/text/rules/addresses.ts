// Addresses of the net, telephone numbers, version numbers: what is spelled rather than read.
import { readDigits, readWhole } from "../NumberReading.ts"
import type { SpokenLanguage } from "../SpokenLanguage.ts"
import type { Replacement } from "../SpokenForm.ts"
import { reading } from "./matching.ts"

/** Mail and web addresses, telephone and version numbers in `text`. */
export const addresses = (text: string, language: SpokenLanguage): ReadonlyArray<Replacement> => [
  ...reading(text, /[\p{L}\p{N}][\p{L}\p{N}._%+-]{0,63}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,5}/gu, (match) =>
    spelled(match[0], language)
  ),
  ...reading(text, /\bhttps?:\/\/[^\s<>"”»)\]]{1,500}[^\s<>"”»)\].,;:!?]/gu, (match) =>
    spelled(match[0].replace(/^https?:\/\//, "").replace(/\/$/, ""), language)
  ),
  ...reading(text, /\bwww\.[^\s<>"”»)\]]{1,200}[^\s<>"”»)\].,;:!?]/gu, (match) => spelled(match[0], language)),
  ...reading(
    text,
    /(?<![\p{L}\p{N}@-])[\p{L}\p{N}-]{2,63}(?:\.[\p{L}\p{N}-]{2,63}){0,3}\.(?:com|org|net|io|dev|ai|edu|gov|de|fr|es|eu|uk)(?![\p{L}\p{N}.-]*[\p{L}\p{N}])/gu,
    (match) => spelled(match[0], language)
  ),
  ...reading(text, telephone, (match) => {
    const digits = match[0].replace(/\D/g, "")
    if (digits.length < 7 || digits.length > 15) return undefined
    return `${match[0].startsWith("+") ? `${language.plus} ` : ""}${readDigits(match[0], language)}`
  }),
  ...reading(text, /(?<![\p{L}\p{N}.,])\d{1,4}(?:\.\d{1,4}){2,5}(?![\p{L}\p{N}]|[.,]\d)/gu, (match) =>
    // 1.234.567 is one number where points group thousands.
    language.decimalMark === "," && /^\d{1,3}(?:\.\d{3})+$/.test(match[0])
      ? undefined
      : match[0]
          .split(".")
          .map((part) => readWhole(part, language))
          .join(` ${language.marks["."]} `)
  )
]

/** With a plus, with a leading zero, or grouped as North America and Spain do. */
const telephone =
  /(?<![\p{L}\p{N}.,+-])(?:\+\d{1,3}(?:[ .\u00a0/-]?\(?\d{1,8}\)?){1,6}|\(0\d{1,5}\)[ ]?\d{2,8}(?:[ .-]\d{2,6}){0,4}|0\d{1,5}(?:[ .\u00a0/-]{1,3}\d{2,8}){1,5}|0\d{6,13}|\(\d{3}\)[ ]?\d{3}[ .-]\d{4}|(?:1[ .-])?\d{3}[ .-]\d{3}[ .-]\d{4}|\d{3}-\d{4}|[6-9]\d{2} \d{2,3} \d{2,3}(?: \d{2,3})?)(?![\p{L}\p{N}]|[.,]\d)/gu

const spelled = (address: string, language: SpokenLanguage): string =>
  address
    .replace(/[./@:_-]/g, (mark) => ` ${language.marks[mark] ?? ""} `)
    .replace(/[^\p{L}\p{N}\s'’]/gu, " ")
    .replace(/\d+/g, (digits) => ` ${digits.length > 4 ? readDigits(digits, language) : readWhole(digits, language)} `)
    .replace(/\bwww\b/g, "w w w")
    .replace(/\s+/g, " ")
    .trim()
