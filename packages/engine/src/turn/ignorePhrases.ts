// Back-channel phrases that do not interrupt the agent ("uh huh", "okay"): compared without case,
// punctuation and repetition.

/** Lower case, letters, digits and apostrophes only, single spaces. */
export const plainWords = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}' ]/gu, " ")
    .replace(/\s+/g, " ")
    .trim()

/** The text is one of the phrases, or a row of them ("yeah yeah okay"). */
export const isIgnored = (text: string, phrases: ReadonlyArray<string>): boolean => {
  const said = plainWords(text)
  return (
    said !== "" &&
    phrases.length > 0 &&
    consume(
      said,
      phrases.map(plainWords).filter((p) => p !== "")
    ) === ""
  )
}

/** The text could still become one of them. */
export const mayBeIgnored = (text: string, phrases: ReadonlyArray<string>): boolean => {
  const plain = phrases.map(plainWords).filter((p) => p !== "")
  const rest = consume(plainWords(text), plain)
  return plain.some((phrase) => phrase.startsWith(rest))
}

/** What is left of `said` after whole phrases, longest first, are taken from its front. */
const consume = (said: string, phrases: ReadonlyArray<string>): string => {
  const longestFirst = [...phrases].sort((a, b) => b.length - a.length)
  let rest = said
  for (;;) {
    const taken = longestFirst.find((phrase) => rest === phrase || rest.startsWith(`${phrase} `))
    if (taken === undefined) return rest
    rest = rest.slice(taken.length).trimStart()
    if (rest === "") return rest
  }
}
