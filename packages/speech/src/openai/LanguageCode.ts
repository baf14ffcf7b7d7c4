// Servers name the language of a transcription as they like: "english", "en", "en-US". We speak ISO 639-1.

/** `undefined` for what is no language with a two-letter code. */
export const languageCode = (name: unknown): string | undefined => {
  if (typeof name !== "string") return undefined
  const given = name.trim().toLowerCase()
  codes ??= codesByName()
  const code = codes.get(given) ?? given.match(/^([a-z]{2})(?:[-_]|$)/)?.[1]
  return code !== undefined && names.of(code) !== code ? code : undefined
}

const names = new Intl.DisplayNames("en", { type: "language" })

let codes: ReadonlyMap<string, string> | undefined

const codesByName = (): ReadonlyMap<string, string> => {
  const letters = [..."abcdefghijklmnopqrstuvwxyz"]
  const found = new Map<string, string>()
  for (const first of letters) {
    for (const second of letters) {
      const code = first + second
      const name = names.of(code)
      // Deprecated codes (iw, in) share their successor's name.
      if (name !== undefined && name !== code && Intl.getCanonicalLocales(code)[0] === code) {
        found.set(name.toLowerCase(), code)
      }
    }
  }
  for (const [other, code] of otherNames) found.set(other, code)
  return found
}

/** Names that recognisers use and the standard does not. */
const otherNames: ReadonlyArray<readonly [string, string]> = [
  ["mandarin", "zh"],
  ["haitian creole", "ht"],
  ["pashto", "ps"],
  ["punjabi", "pa"],
  ["burmese", "my"],
  ["myanmar", "my"],
  ["sinhala", "si"],
  ["tagalog", "tl"],
  ["castilian", "es"],
  ["flemish", "nl"],
  ["valencian", "ca"],
  ["moldavian", "ro"]
]
