// Cuts a stream of words into phrases to speak: sentences, but the first phrase of a reply may end at a
// clause so that sound starts early. The phrases joined are exactly the text that came in.

/** A clause ends the first phrase only from this many characters on. */
const firstClauseMin = 14
/** A sentence longer than this is cut at a clause, then at a space. */
const longest = 220

/** For one reply: text in pieces of any length in, phrases out. */
export class PhraseCutter {
  private pending = ""
  private first = true

  /** Phrases completed by this piece of text. */
  push(text: string): ReadonlyArray<string> {
    this.pending += text
    const phrases: Array<string> = []
    for (;;) {
      const end = this.boundary()
      if (end === 0) return phrases
      phrases.push(this.pending.slice(0, end))
      this.pending = this.pending.slice(end)
      this.first = false
    }
  }

  /** The rest; empty when nothing is left to say. */
  finish(): string {
    const rest = this.pending
    this.pending = ""
    return rest
  }

  /** Where the first phrase in `pending` ends, its trailing space included; 0 when it is still open. */
  private boundary(): number {
    const text = this.pending
    for (const mark of text.matchAll(/[.!?…]+["')\]]*\s+|\n+\s*|[。！？]+/g)) {
      const end = mark.index + mark[0].length
      if (end > longest) break
      if (isSentenceEnd(text, mark.index) && hasWord(text.slice(0, end))) return end
    }
    if (this.first || text.length > longest) {
      const from = this.first ? firstClauseMin : longest / 2
      for (const mark of text.matchAll(/[,;:–—]\s+/g)) {
        if (mark.index >= from) return mark.index + mark[0].length
      }
    }
    if (text.length > longest) {
      const space = text.lastIndexOf(" ", longest)
      return space > 0 ? space + 1 : longest
    }
    return 0
  }
}

const hasWord = (text: string): boolean => /[\p{L}\p{N}]/u.test(text)

const abbreviations = /(?:^|\s)(?:dr|mr|mrs|ms|prof|st|no|vs|etc|e\.g|i\.e|a\.m|p\.m|z\.b|bzw|nr|sr|sra|m|mme|\p{L})$/iu

/** Not after an abbreviation, an initial or an ordinal in front of a lower-case word. */
const isSentenceEnd = (text: string, at: number): boolean => {
  if (text[at] !== ".") return true
  const before = text.slice(0, at)
  if (!abbreviations.test(before)) return true
  const next = text.slice(at).replace(/^[.\s"')\]]+/, "")
  return /(?:a\.m|p\.m|etc)$/i.test(before) && /^\p{Lu}/u.test(next)
}

/** As it is sent to a synthesizer: marks of writing become spaces, so that every position stays what it was. */
export const speakable = (phrase: string): string => phrase.replace(/[*_#`~|<>[\]{}]/g, " ")
