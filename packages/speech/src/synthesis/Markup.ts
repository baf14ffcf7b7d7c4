// What a text holds besides words: speaker tags, stage directions, marks of writing. All of it is blanked out
// before speaking, one blank per character, so that every position stays what it was.
import type { SynthesisSettings } from "./SynthesisRequest.ts"

export type Cues = SynthesisSettings["cues"]

/** `<|speaker:N|>`; the group is N. */
export const speakerTags = /<\|speaker:(\d{1,3})\|>/g

/** Longest stage direction, its brackets included. */
export const cueCharacters = 82

/** The same text, the same length, with nothing but what is to be said. */
export const unmarked = (text: string, cues: Cues): string =>
  blank(blank(text, speakerTags), cuePatterns[cues]).replace(
    /[*`~|<>{}[\]\\]|#(?=[#\s])|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu,
    blanks
  )

/** Stage directions and tags as one mark that no boundary matches: nothing is ever cut inside them. */
export const sealed = (text: string, cues: Cues): string =>
  seal(seal(text, speakerTags), cues === "none" ? cuePatterns.none : /\([^()\n]{1,80}\)|\[[^[\]\n]{1,80}\]/g)

/** Where a tag or a stage direction begins that has not ended yet; the text's length when there is none. */
export const openMarkup = (text: string, cues: Cues): number => {
  const tag = text.match(/<(?:\|[a-z]{0,7}(?::\d{0,3}\|?)?)?$/)
  const cue =
    cues === "none" ? null : text.slice(-cueCharacters).match(cues === "brackets" ? /\[[^\]\n]*$/ : /\([^)\n]*$/)
  const cueAt = cue === null ? text.length : Math.max(0, text.length - cueCharacters) + (cue.index ?? 0)
  return Math.min(tag?.index ?? text.length, cueAt)
}

/** Is there anything to say in it? */
export const isSayable = (unmarkedText: string): boolean => /[\p{L}\p{N}]/u.test(unmarkedText)

const blanks = (match: string): string => " ".repeat(match.length)

const blank = (text: string, pattern: RegExp): string => text.replace(pattern, blanks)

const seal = (text: string, pattern: RegExp): string =>
  text.replace(pattern, (match: string) => "\u0001".repeat(match.length))

/**
 * Round brackets also hold ordinary asides, which are spoken: only known directions in them are directions.
 */
const cuePatterns: Readonly<Record<Cues, RegExp>> = {
  none: /(?!)/g,
  brackets: /\[[^[\]\n]{1,80}\]/g,
  parentheses:
    /\((?:in an? [a-z -]{1,40} tone|(?:speaking |talking )?(?:[a-z]+ly|happy|sad|angry|excited|surprised|satisfied|delighted|scared|worried|upset|nervous|frustrated|depressed|empathetic|embarrassed|disgusted|moved|proud|relaxed|grateful|confident|interested|curious|confused|joyful|calm|disdainful|unhappy|anxious|hysterical|indifferent|impatient|guilty|scornful|panicked|furious|reluctant|keen|disapproving|negative|denying|astonished|serious|sarcastic|conciliative|comforting|sincere|sneering|hesitating|yielding|painful|awkward|amused|soft tone|whispering|whisper|shouting|screaming|laughing|laugh|chuckling|chuckle|sobbing|crying|crying loudly|sighing|sigh|panting|groaning|groan|crowd laughing|background laughter|audience laughing|breath|breathing|gasping|gasp|cough|coughing|yawning|pause|break|long-break|long pause))\)/gi
}
