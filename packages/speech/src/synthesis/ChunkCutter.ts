// Cuts text, as it arrives, into the chunks that are spoken one by one: at sentences, the first one at a clause
// where an early start is wanted. The chunks joined are exactly the text; a chunk has one speaker, and nothing is
// cut inside a number, a tag, a stage direction or a surrogate pair. Looks only at the window a chunk can fill.
import { cueCharacters, isSayable, openMarkup, sealed, speakerTags, unmarked } from "./Markup.ts"
import type { Cues } from "./Markup.ts"
import { clauseEnds, sentenceEnds, spaceBefore, wordBreak } from "../text/Boundaries.ts"

/** Where text is cut. */
export interface ChunkRules {
  /** Longest chunk in characters. */
  readonly chunkLength: number
  /** A sentence shorter than this waits for the next one. */
  readonly minChunkLength: number
  /** The first chunk may end at a clause from this many characters on, and is no longer than `firstLongest`. */
  readonly early?: { readonly clauseFrom: number; readonly firstLongest: number } | undefined
  readonly cues: Cues
}

/** A chunk of the text, verbatim. */
export interface Cut {
  readonly content: string
  /** 0-based; 0 until a tag names another. */
  readonly speaker: number
  /** Nothing before it is still to be spoken: somebody waits for this one. */
  readonly first: boolean
}

/** One stream of text. */
export class ChunkCutter {
  readonly #rules: ChunkRules
  #pending = ""
  /** Up to here `#pending` is known to hold nothing to say. */
  #scanned = 0
  #speaker = 0
  #first = true

  constructor(rules: ChunkRules) {
    this.#rules = rules
  }

  /** Chunks completed by this piece of text. */
  push(text: string): ReadonlyArray<Cut> {
    this.#pending += text
    const cuts: Array<Cut> = []
    for (;;) {
      const end = this.#boundary(false)
      if (end === 0) return cuts
      cuts.push(this.#cut(this.#withMuteRest(end)))
    }
  }

  /** All that is there, in chunks no longer than allowed; the next one counts as a first one again. */
  flush(): ReadonlyArray<Cut> {
    const cuts: Array<Cut> = []
    while (this.#pending !== "") {
      const end = this.#boundary(true)
      cuts.push(this.#cut(end === 0 ? this.#pending.length : this.#withMuteRest(end)))
    }
    this.#first = true
    return cuts
  }

  #cut(end: number): Cut {
    const content = this.#pending.slice(0, end)
    this.#pending = this.#pending.slice(end)
    this.#scanned = 0
    for (const tag of content.matchAll(speakerTags)) this.#speaker = Number(tag[1])
    const cut = { content, speaker: this.#speaker, first: this.#first }
    if (isSayable(unmarked(content, this.#rules.cues))) this.#first = false
    return cut
  }

  /** Where the first chunk in `pending` ends; 0 while it is open. `complete`: no more text can change it. */
  #boundary(complete: boolean): number {
    const { chunkLength, cues, early, minChunkLength } = this.#rules
    const lead = this.#lead()
    if (lead === this.#pending.length) return 0
    const window = this.#pending.slice(lead, lead + chunkLength + 8)
    const text = sealed(window, cues)
    const tag = window.search(/<\|speaker:\d{1,3}\|>/)
    // What is still open may turn out to be markup; a chunk that is full does not wait for that.
    const whole = complete && lead + window.length === this.#pending.length
    const limit = Math.min(tag === -1 ? window.length : tag, whole ? window.length : openMarkup(window, cues))
    const longest = Math.min(limit, chunkLength)
    if (longest === 0) return 0
    const full = window.length > chunkLength
    const sentences = sentenceEnds(text, whole).filter((end) => end <= longest)
    const starts = this.#first && early !== undefined
    const sentence = sentences.find((end) => end >= (starts ? 1 : minChunkLength))
    const clauses = clauseEnds(text).filter((end) => end <= longest)
    if (starts) {
      const firstLongest = Math.min(early.firstLongest, chunkLength)
      const soon = [sentence, clauses.find((end) => end >= early.clauseFrom)].filter((end) => end !== undefined)
      const end = Math.min(...soon)
      if (end <= firstLongest) return lead + end
      if (limit > firstLongest) {
        const space = wordBreak(text, firstLongest / 2, firstLongest)
        if (space > 0) return lead + space
      }
      if (Number.isFinite(end)) return lead + end
    }
    if (sentence !== undefined) return lead + sentence
    if (tag !== -1 && tag <= chunkLength) return lead + tag
    if (!full) return 0
    const clause = clauses.findLast((end) => end >= chunkLength / 2)
    return lead + (sentences.at(-1) ?? clause ?? spaceBefore(text, longest))
  }

  /** How much of `pending` comes before the first character that can be said, or before the markup it stands in. */
  #lead(): number {
    const { cues } = this.#rules
    const pattern = leads[cues]
    pattern.lastIndex = this.#scanned
    for (let match = pattern.exec(this.#pending); match !== null; match = pattern.exec(this.#pending)) {
      if (match[1] === undefined) continue
      const from = Math.max(0, match.index - cueCharacters)
      return Math.min(match.index, from + openMarkup(this.#pending.slice(from, match.index), cues))
    }
    // The end may be half of some markup or of a surrogate pair.
    this.#scanned = Math.max(this.#scanned, this.#pending.length - cueCharacters)
    return this.#pending.length
  }

  /** `end`, or the end of the text where all that follows is punctuation, emoji and the like: it joins this chunk. */
  #withMuteRest(end: number): number {
    const rest = this.#pending.slice(end, end + this.#rules.chunkLength)
    const mute = end + rest.length === this.#pending.length && !/[\p{L}\p{N}<([]|[\uD800-\uDBFF]$/u.test(rest)
    return mute ? this.#pending.length : end
  }
}

/** The group is what can be said; markup before it is passed over. Round brackets may hold what is said. */
const leads: Readonly<Record<Cues, RegExp>> = {
  none: /<\|speaker:\d{1,3}\|>|([\p{L}\p{N}])/gu,
  brackets: /<\|speaker:\d{1,3}\|>|\[[^[\]\n]{1,80}\]|([\p{L}\p{N}])/gu,
  parentheses: /<\|speaker:\d{1,3}\|>|([\p{L}\p{N}])/gu
}
