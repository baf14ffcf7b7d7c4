// Which words of a reply have been heard at a playout position. Phrases are slices of the model's own
// text, so what was heard is always a true prefix of what it wrote. A word counts as heard once its
// middle was played. Positions in samples since the reply's first.
import type { WordTime } from "@parley/speech/ports/Synthesizer"

interface Phrase {
  readonly segment: string
  text: string
  readonly start: number
  end: number | null
  /** Ascending; `to` is the end of a word in `text`, `at` the position at which it counts as heard. */
  cues: ReadonlyArray<{ readonly to: number; readonly at: number }>
}

/** What was heard of one segment, trimmed. */
export interface HeardSegment {
  readonly segment: string
  readonly text: string
}

/** Pace assumed until the phrase's length is known. */
const assumedMsPerChar = 65

/** The text of one reply on the time axis of its audio. */
export class SpokenText {
  private readonly phrases: Array<Phrase> = []
  private readonly rate: number
  private readonly onDelta: (segment: string, delta: string) => void
  /** Told so far: characters of the phrase under the head. */
  private head = 0
  private told = 0

  /** `onDelta` gets each piece of text when it was heard. */
  constructor(rate: number, onDelta: (segment: string, delta: string) => void) {
    this.rate = rate
    this.onDelta = onDelta
  }

  /** The phrase's audio is about to be pushed at position `start`. */
  begin(segment: string, text: string, start: number): void {
    const perChar = (assumedMsPerChar * this.rate) / 1000
    this.phrases.push({ segment, text, start, end: null, cues: paced(text, start, perChar) })
  }

  /** The last phrase begun was pushed whole, up to position `end`. */
  finish(end: number): void {
    const phrase = this.phrases.at(-1)
    if (phrase === undefined) return
    phrase.end = end
    if (!this.exact.has(phrase))
      phrase.cues = paced(phrase.text, phrase.start, (end - phrase.start) / phrase.text.length)
  }

  /** The synthesizer failed at position `end`: what was not made will not be heard. */
  breakOff(end: number): void {
    const phrase = this.phrases.at(-1)
    if (phrase === undefined) return
    phrase.text = phrase.text.slice(0, heardIn(phrase, end))
    phrase.end = end
  }

  /** The synthesizer's word times for the last phrase; ranges are offset by what was trimmed from its front. */
  words(words: ReadonlyArray<WordTime>, trimmed: number): void {
    const phrase = this.phrases.at(-1)
    if (phrase === undefined || words.length === 0) return
    this.exact.add(phrase)
    phrase.cues = words.map((word) => ({
      to: word.to + trimmed,
      at: phrase.start + (((word.startMs + word.endMs) / 2) * this.rate) / 1000
    }))
  }

  /** Tells what has been heard since the last call. Called on the media thread, cheap when nothing is due. */
  advance(position: number): void {
    for (;;) {
      const phrase = this.phrases[this.head]
      if (phrase === undefined) return
      const over = phrase.end !== null && position >= phrase.end
      const to = over ? phrase.text.length : heardIn(phrase, position)
      if (to > this.told) {
        this.onDelta(phrase.segment, phrase.text.slice(this.told, to))
        this.told = to
      }
      if (!over) return
      this.head++
      this.told = 0
    }
  }

  /** What has been told, by segment: the record of a reply, whole or cut. */
  heard(): ReadonlyArray<HeardSegment> {
    const texts = new Map<string, string>()
    this.phrases.forEach((phrase, i) => {
      const part = i < this.head ? phrase.text : i === this.head ? phrase.text.slice(0, this.told) : ""
      texts.set(phrase.segment, (texts.get(phrase.segment) ?? "") + part)
    })
    return [...texts].map(([segment, text]) => ({ segment, text: text.trim() }))
  }

  private readonly exact = new WeakSet<Phrase>()
}

const heardIn = (phrase: Phrase, position: number): number => {
  let to = 0
  for (const cue of phrase.cues) {
    if (cue.at > position) break
    to = cue.to
  }
  return to
}

/** Cues at the middle of each word for a steady pace of `perChar` samples. */
const paced = (text: string, start: number, perChar: number): Phrase["cues"] =>
  [...text.matchAll(/\S+/g)].map((word) => {
    const to = word.index + word[0].length
    return { to, at: start + ((word.index + to) / 2) * perChar }
  })
