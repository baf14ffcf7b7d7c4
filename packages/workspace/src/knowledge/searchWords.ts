// What full-text search is told of a text: its words, and the dictionary that knows their stems. Scripts that are
// written without spaces become pairs of characters, in documents and questions alike. Pure.

/** PostgreSQL's dictionaries that are used; `simple` knows no language. */
export type SearchLanguage = "simple" | keyof typeof frequentWords

const frequentWords = {
  english: "the and of to in is are you that for with be this or on your not from can we",
  german: "der die das und ist nicht ein eine zu den mit von für auf sie wir sich dem werden oder",
  french: "le la les des et est une du pour dans que vous pas sur au avec nous ce sont aux",
  spanish: "el los las del y es una por para con que en su se no más como lo al son",
  italian: "il gli di e è una per con che non del della sono si nel alla anche ci le un",
  portuguese: "o os as do da e é uma para com que não em no na dos por mais ao são",
  dutch: "de het een en van is niet dat op te voor met zijn u wij aan ook of bij om"
} as const

const languages = Object.entries(frequentWords).map(([language, words]) => ({
  language: language as keyof typeof frequentWords,
  words: new Set(words.split(" "))
}))

/** Enough to tell the language by. */
const sampleLetters = 20_000

/** The language whose most frequent words make up the most of the text, and enough of it. */
export const searchLanguage = (text: string): SearchLanguage => {
  const sample = wordsOf(text.slice(0, sampleLetters))
  const [best, second] = languages
    .map(({ language, words }) => ({
      language,
      share: sample.filter((word) => words.has(word)).length / sample.length
    }))
    .sort((a, b) => b.share - a.share)
  return best !== undefined && best.share >= 0.08 && best.share > 1.2 * (second?.share ?? 0) ? best.language : "simple"
}

const unspaced = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}`
const run = new RegExp(`[${unspaced}]+|[^${unspaced}]+`, "gu")
const isUnspaced = new RegExp(`^[${unspaced}]`, "u")

/** In lower case, in order, as often as they occur. */
const wordsOf = (text: string): ReadonlyArray<string> =>
  (
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  ).flatMap((word) => (word.match(run) ?? []).flatMap((part) => (isUnspaced.test(part) ? pairsOf(part) : [part])))

const pairsOf = (part: string): ReadonlyArray<string> => {
  const letters = [...part]
  return letters.length < 2 ? letters : letters.slice(1).map((letter, i) => `${letters[i]}${letter}`)
}

/** PostgreSQL takes no longer words. */
const longestWord = 500

/** The text as its words only: what `to_tsvector` is given. */
export const searchText = (text: string): string =>
  wordsOf(text)
    .filter((word) => word.length <= longestWord)
    .join(" ")

const mostTerms = 40

/** Any of the question's words, for `to_tsquery`; empty when there are none. */
export const searchQuery = (question: string): string =>
  [...new Set(wordsOf(question))]
    .filter((word) => word.length <= longestWord && (word.length > 1 || isUnspaced.test(word) || /\p{N}/u.test(word)))
    .slice(0, mostTerms)
    .map((word) => `'${word}'`)
    .join(" | ")
