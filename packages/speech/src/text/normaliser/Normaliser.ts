// Written text as spoken words: numbers, dates, times, money and the like, by the rules of the text's language.
// A language without rules leaves its text as it is; the rules never change what they do not recognise, acronyms
// among it. Of two rules that see the same characters the one listed first wins.
import { english } from "../languages/english.ts"
import { french } from "../languages/french.ts"
import { german } from "../languages/german.ts"
import { spanish } from "../languages/spanish.ts"
import { romanDigits } from "../NumberReading.ts"
import { addresses } from "../rules/addresses.ts"
import { amounts } from "../rules/amounts.ts"
import { reading } from "../rules/matching.ts"
import { moments } from "../rules/moments.ts"
import { blankRuns, spokenForm } from "../SpokenForm.ts"
import type { Replacement, SpokenForm } from "../SpokenForm.ts"
import type { SpokenLanguage } from "../SpokenLanguage.ts"

/** `language` is ISO 639-1, a region may follow. Never throws, whatever the text. */
export const normalise = (text: string, language: string): SpokenForm => {
  const spoken = languages.get(language.slice(0, 2).toLowerCase())
  return spokenForm(text, spoken === undefined ? blankRuns(text) : [...readings(text, spoken), ...blankRuns(text)])
}

const languages: ReadonlyMap<string, SpokenLanguage> = new Map([
  ["en", english],
  ["de", german],
  ["fr", french],
  ["es", spanish]
])

const readings = (text: string, language: SpokenLanguage): ReadonlyArray<Replacement> => [
  ...(/[\d.@/]/.test(text) ? addressesAndMoments(text, language) : []),
  ...language.ordinals.flatMap(([pattern, say]) => reading(text, pattern, (match) => say(match[1] ?? "", match))),
  ...language.romans.flatMap(([pattern, say]) =>
    reading(text, pattern, (match) => {
      const digits = romanDigits(match[1] ?? "")
      return digits === undefined ? undefined : say(digits, match)
    })
  ),
  ...(/[\d½¼¾⅓⅔]/.test(text) ? amounts(text, language) : []),
  ...language.abbreviations.flatMap(([pattern, spoken]) => reading(text, pattern, () => spoken))
]

/** A date is not a telephone number, though it may look like one. */
const addressesAndMoments = (text: string, language: SpokenLanguage): ReadonlyArray<Replacement> => [
  ...moments(text, language),
  ...addresses(text, language)
]
