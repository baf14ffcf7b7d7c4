// What a language has to say for itself so that the rules can read numbers aloud in it.

export type Gender = "m" | "f" | "n"

/** What is counted, in singular and plural. */
export interface Noun {
  readonly one: string
  readonly many: string
  readonly gender?: Gender
}

/** A currency and its hundredth part. */
export interface Currency extends Noun {
  readonly cent?: Noun
}

/** Words and habits of one language. */
export interface SpokenLanguage {
  /** Digits only, at most 15. */
  readonly cardinal: (digits: string) => string
  /** "one", "two" in front of a noun. */
  readonly before: (digits: string, gender: Gender) => string
  /** Of a noun that follows a bare number, where that changes the number; `undefined` where it is no noun. */
  readonly genderOf?: (word: string) => Gender | undefined
  readonly year: (digits: string) => string
  readonly decimalMark: "." | ","
  /** Characters that group thousands, as in a character class. */
  readonly grouping: string
  /** The decimal mark, read. */
  readonly point: string
  /** Fractions are read digit by digit; else as numbers, up to three digits. */
  readonly fractionByDigit: boolean
  readonly minus: string
  readonly percent: string
  readonly to: string
  readonly and: string
  /** Between a sum and its cents. */
  readonly centsJoint: string
  /** Between the words of a sum's scale and its currency: "millions d'euros". */
  readonly scales: Readonly<Record<string, Noun>>
  readonly scaleJoint: (noun: string) => string
  readonly months: ReadonlyArray<string>
  /** Names and short forms, in lower case, to the month's index. */
  readonly monthNames: Readonly<Record<string, number>>
  /** 03/04: the fourth of March. */
  readonly monthFirst: boolean
  /** `year` is absent where it was not written. `before`: the word in front. */
  readonly date: (day: number, month: number, year: string | undefined, before: string) => string
  /** A date whose month is a word; the groups `day`, `month` and `year`. */
  readonly writtenDate: RegExp
  /** Groups `hour`, and where written `minute`, `second`, `half`. */
  readonly clock: RegExp
  readonly time: (
    hour: number,
    minute: number | undefined,
    second: number | undefined,
    half: string | undefined
  ) => string
  readonly currencies: Readonly<Record<string, Currency>>
  readonly units: Readonly<Record<string, Noun>>
  /** Numerals with an ordinal's ending; the group `number`, and what its reading is. */
  readonly ordinals: ReadonlyArray<readonly [RegExp, (digits: string, match: RegExpExecArray) => string]>
  readonly romans: ReadonlyArray<readonly [RegExp, (digits: string, match: RegExpExecArray) => string]>
  readonly fractions: Readonly<Record<string, string>>
  /** Of addresses: `.`, `@`, `/`, `-`, `_`, `:`. */
  readonly marks: Readonly<Record<string, string>>
  readonly plus: string
  /** Each replaces its whole match. */
  readonly abbreviations: ReadonlyArray<readonly [RegExp, string]>
}
