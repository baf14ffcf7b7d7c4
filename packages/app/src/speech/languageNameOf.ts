// The English name of a language by its ISO 639-1 code; undefined where there is none.
const names = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" })

/** `en` gives `English`; undefined for `""` and for what is no code. */
export const languageNameOf = (code: string): string | undefined => {
  try {
    return code === "" ? undefined : names.of(code)
  } catch {
    return undefined
  }
}
