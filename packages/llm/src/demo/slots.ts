// What a caller's sentence says about an appointment: a day, a time, a name. English, lenient with the
// way recognisers write numbers.

/** What the caller has told so far, in words as the host would say them. */
export interface Slots {
  readonly day?: string
  readonly time?: string
  readonly name?: string
}

const days = "monday|tuesday|wednesday|thursday|friday|saturday|sunday|today|tomorrow"
const numberWords = [
  "zero",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
  "eleven",
  "twelve"
]
const hours = numberWords.slice(1)
const minuteWords: Readonly<Record<string, string>> = { fifteen: "15", thirty: "30", "forty five": "45" }

const afterName = /\b(?:my name is|my name's|name is|this is|i am|i'm|it is|it's|call me)\s+([a-z' -]+)$/
const notNames = new Set(
  "here there fine good okay ok sorry not looking calling interested a an the just still happy".split(" ")
)

/** The day named in a lower-case sentence: `Monday`, `next Friday`, `tomorrow`. */
export const dayIn = (said: string): string | undefined => {
  const day = new RegExp(`\\b(?:(next) )?(${days})\\b`).exec(said)
  if (day?.[2] === undefined) return undefined
  const name = day[2] === "today" || day[2] === "tomorrow" ? day[2] : capital(day[2])
  return day[1] === undefined ? name : `next ${name}`
}

/** The time of day named in a lower-case sentence: `10:30`, `3 in the afternoon`, `in the morning`. */
export const timeIn = (said: string): string | undefined => {
  const plain = said.replace(/\b(a|p)\.? ?m\b\.?/g, "$1m")
  const hour = `(\\d{1,2}|${hours.join("|")})`
  const half = new RegExp(`\\bhalf past ${hour}\\b`).exec(plain)
  if (half?.[1] !== undefined) return `${digits(half[1])}:30${partOfDay(plain)}`
  const clock = new RegExp(
    `\\b${hour}(?:[: ](\\d{2}|fifteen|thirty|forty five))? ?(o'?clock|am|pm|in the (?:morning|afternoon|evening))?(?=$|[ .,!?])`
  )
  const at = new RegExp(`\\bat ${clock.source.slice(2)}`).exec(plain)
  const found = at ?? clock.exec(plain)
  if (found?.[1] === undefined) {
    if (/\bnoon\b/.test(plain)) return "noon"
    return /\b(morning|afternoon|evening)\b/.test(plain)
      ? `in the ${/morning|afternoon|evening/.exec(plain)?.[0]}`
      : undefined
  }
  const value = Number(digits(found[1]))
  if (value < 1 || value > 24) return undefined
  const minutes = found[2] === undefined ? "" : `:${minuteWords[found[2]] ?? found[2]}`
  return `${value}${minutes}${partOfDay(plain)}`
}

/** `asked`: the last question was for the name, so a bare answer is one. */
export const nameIn = (said: string, asked: boolean): string | undefined => {
  const told = afterName.exec(said)?.[1]
  const bare = asked && !/\b(no|yes|what|why|when|can|could|please)\b/.test(said) ? said : undefined
  const words = (told ?? bare ?? "")
    .replace(/[^a-z' -]/g, "")
    .trim()
    .split(/\s+/)
  const first = words[0] ?? ""
  if (first === "" || words.length > 3 || notNames.has(first) || (told !== undefined && first.endsWith("ing")))
    return undefined
  return words.map(capital).join(" ")
}

const partOfDay = (said: string): string => {
  if (/\bpm\b|afternoon|evening/.test(said)) return " in the afternoon"
  return /\bam\b|morning/.test(said) ? " in the morning" : ""
}

const digits = (word: string): string => {
  const index = hours.indexOf(word)
  return index === -1 ? word : String(index + 1)
}

const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)
