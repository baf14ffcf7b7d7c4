// Which of the four languages with spoken rules a text is in, told by its smallest words. Made to be safe, not
// clever: a text that is short, mixed or foreign is "not known".

export type GuessedLanguage = "en" | "de" | "fr" | "es"

/** Longest opening of a text that is looked at. */
const mostCharacters = 2000
/** Function words that must be there, and by how much they must outnumber the next language's. */
const fewest = 2
const lead = 1.6

/** ISO 639-1 code of the text's language, or `undefined` where that is not clear. */
export const guessLanguage = (text: string): GuessedLanguage | undefined => {
  const scores = { en: 0, de: 0, fr: 0, es: 0 }
  let words = 0
  for (const [, word = "", apostrophe] of text
    .slice(0, mostCharacters)
    .toLowerCase()
    .matchAll(/([\p{L}\p{M}]+)(['’]?)/gu)) {
    words++
    if (apostrophe !== "" && elided.has(word)) scores.fr++
    for (const language of languages) if (functionWords[language].has(word)) scores[language]++
    for (const [language, letters] of ownLetters) if (letters.test(word)) scores[language] += 0.5
  }
  const [first, second] = languages.toSorted((a, b) => scores[b] - scores[a])
  if (first === undefined || second === undefined) return undefined
  const enough = scores[first] >= fewest && scores[first] >= words / 10
  return enough && scores[first] >= scores[second] * lead ? first : undefined
}

const languages: ReadonlyArray<GuessedLanguage> = ["en", "de", "fr", "es"]

const listed = (words: string): ReadonlySet<string> => new Set(words.split(" "))

const functionWords: Readonly<Record<GuessedLanguage, ReadonlySet<string>>> = {
  en: listed(
    "the and of to is are was were you your it this that with for have has had not what how will would can could my we our they there from be been i he she but about please when where who which do does did at on by or if so"
  ),
  de: listed(
    "der die das und ist sind war nicht ich du sie er wir ihr ein eine einen einem einer mit für auf von zu zum zur im den dem des auch wie was wenn aber oder haben hat habe wird werden kann können bitte noch nur nach bei aus über dass sich mein meine ihre unser heute uhr"
  ),
  fr: listed(
    "le la les des une un et est sont je tu il elle nous vous ils elles ne pas que qui dans pour sur avec ce cette ces du au aux mais ou où plus très bien mon ma mes votre vos notre nos être avoir ai avez fait été"
  ),
  es: listed(
    "el la los las un una y es son yo tú él ella nosotros ustedes usted no que en para por con se su sus mi mis del al pero más muy bien está están este esta como cómo qué cuando dónde tiene tengo hay fue ser lo le"
  )
}

/** French, where an apostrophe follows; by themselves they are letters of any language. */
const elided = listed("c d l j n s qu")

const ownLetters: ReadonlyArray<readonly [GuessedLanguage, RegExp]> = [
  ["de", /[äöüß]/],
  ["fr", /[àâèêëîïôùûçœ]/],
  ["es", /[ñ]/]
]
