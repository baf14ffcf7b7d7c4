// Dates and times of day.
import type { SpokenLanguage } from "../SpokenLanguage.ts"
import type { Replacement } from "../SpokenForm.ts"
import { reading, wordBefore } from "./matching.ts"

/** Dates and times of day in `text`. What is no date stays as it is. */
export const moments = (text: string, language: SpokenLanguage): ReadonlyArray<Replacement> => {
  const say = (day: number, month: number, year: string | undefined, match: RegExpExecArray): string | undefined =>
    day >= 1 && day <= 31 && month >= 1 && month <= 12
      ? language.date(day, month - 1, year, wordBefore(match))
      : undefined
  return [
    ...reading(text, /(?<![\p{L}\p{N}.-])(\d{4})-(\d{2})-(\d{2})(?![\p{L}\p{N}-])/gu, (match) =>
      say(Number(match[3]), Number(match[2]), match[1]!, match)
    ),
    ...reading(text, /(?<![\p{L}\p{N}.])(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?![\p{L}\p{N}])/gu, (match) =>
      say(Number(match[1]), Number(match[2]), match[3]!, match)
    ),
    ...reading(text, /(?<![\p{L}\p{N}/])(\d{1,2})\/(\d{1,2})\/(\d{4})(?![\p{L}\p{N}/])/gu, (match) => {
      const [first, second] = [Number(match[1]), Number(match[2])]
      const monthFirst = language.monthFirst ? first <= 12 : second > 12
      return monthFirst ? say(second, first, match[3]!, match) : say(first, second, match[3]!, match)
    }),
    ...reading(text, language.writtenDate, (match) => {
      const { day, month, year } = match.groups ?? {}
      const index = language.monthNames[(month ?? "").toLowerCase().replace(/\.$/, "")]
      return index === undefined ? undefined : say(Number(day), index + 1, year, match)
    }),
    ...reading(text, language.clock, (match) => {
      const { half, hour, minute, second } = match.groups ?? {}
      return language.time(Number(hour), number(minute), number(second), half?.slice(0, 1).toLowerCase())
    })
  ]
}

const number = (digits: string | undefined): number | undefined => (digits === undefined ? undefined : Number(digits))
