// Makes any text safe and sayable for an engine that knows ASCII only: accents are folded, typography is
// spelled plainly, control characters vanish. Every token keeps its character range in the caller's text,
// so that word times can point there. Long text becomes several pieces, because one piece is one job.

/** A word of the request and the printable ASCII that is spoken for it. */
export interface SpokenToken {
  /** As the engine gets it: printable ASCII without blanks. */
  readonly spoken: string
  /** As the caller wrote it. */
  readonly text: string
  readonly from: number
  readonly to: number
}

export type SpokenText =
  | { readonly _tag: "Sayable"; readonly pieces: ReadonlyArray<ReadonlyArray<SpokenToken>> }
  /** Nothing, or less than half of its letters, can be said. */
  | { readonly _tag: "NotSayable" }

/** Longest piece in characters: about 20 s of speech. */
const pieceCharacters = 300

/** Cut into pieces that the engine can hold; `NotSayable` where no character can be spoken. */
export const spokenText = (text: string): SpokenText => {
  const tokens: Array<SpokenToken> = []
  let kept = 0
  let lost = 0
  for (const match of text.matchAll(/\S+/g)) {
    const spoken = fold(match[0])
    kept += count(spoken, /[a-z0-9]/gi)
    lost += count(foldLetters(match[0]), /[^\P{L}a-z]/giu)
    if (!/[a-z0-9&%$+=@#]/i.test(spoken)) {
      breathe(tokens, spoken)
      continue
    }
    for (let at = 0; at < spoken.length; at += pieceCharacters) {
      const part = spoken.slice(at, at + pieceCharacters)
      tokens.push({ spoken: part, text: match[0], from: match.index, to: match.index + match[0].length })
    }
  }
  return kept === 0 || lost > kept ? { _tag: "NotSayable" } : { _tag: "Sayable", pieces: cut(tokens) }
}

/** A dash or dots standing alone are a pause after the token before. */
const breathe = (tokens: Array<SpokenToken>, mark: string): void => {
  const last = tokens.at(-1)
  if (last === undefined || !/^[,.;:!?-]/.test(mark) || /[,.;:!?]$/.test(last.spoken)) return
  tokens[tokens.length - 1] = { ...last, spoken: `${last.spoken},` }
}

/** Pieces end after a sentence, else after a clause, else anywhere between two tokens. */
const cut = (tokens: ReadonlyArray<SpokenToken>): ReadonlyArray<ReadonlyArray<SpokenToken>> => {
  const pieces: Array<ReadonlyArray<SpokenToken>> = []
  let rest = tokens
  while (rest.length > 0) {
    const fitting = fit(rest)
    const size = fitting === rest.length ? fitting : lastEnd(rest.slice(0, fitting))
    pieces.push(rest.slice(0, size))
    rest = rest.slice(size)
  }
  return pieces
}

const fit = (tokens: ReadonlyArray<SpokenToken>): number => {
  let characters = 0
  for (const [i, token] of tokens.entries()) {
    characters += token.spoken.length + 1
    if (characters > pieceCharacters + 1) return i
  }
  return tokens.length
}

const lastEnd = (tokens: ReadonlyArray<SpokenToken>): number => {
  for (const end of [/[.!?]["')]*$/, /[,;:]["')]*$/]) {
    const at = tokens.findLastIndex((token) => end.test(token.spoken))
    if (at >= tokens.length / 4) return at + 1
  }
  return tokens.length
}

const fold = (token: string): string =>
  foldLetters(token)
    .replace(/[‘’‚‛′`´]/g, "'")
    .replace(/[“”„‟″«»]/g, '"')
    .replace(/[‐‑‒−]/g, "-")
    .replace(/[–—―]/g, ",")
    .replace(/…/g, "...")
    .replace(/[^\x21-\x7e]/g, "")

const foldLetters = (token: string): string =>
  token
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[ßæœøłđðþıÆŒØŁĐÐÞ€£]/g, (letter) => plain[letter] ?? "")

const plain: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
  Æ: "Ae",
  Œ: "Oe",
  Ø: "O",
  Ł: "L",
  Đ: "D",
  Ð: "D",
  Þ: "Th",
  "€": "euro",
  "£": "pound"
}

const count = (text: string, letters: RegExp): number => text.match(letters)?.length ?? 0
