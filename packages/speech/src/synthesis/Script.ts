// From the caller's text to what the engine is asked to say: chunks, each with its speaker, its language and its
// spoken form. Pure; one script serves one stream of text.
import { guessLanguage } from "../text/LanguageGuess.ts"
import { normalise } from "../text/normaliser/Normaliser.ts"
import { blankRuns, spokenForm } from "../text/SpokenForm.ts"
import type { SpokenForm } from "../text/SpokenForm.ts"
import type { SpeechInput, SynthesisSettings } from "./SynthesisRequest.ts"
import { ChunkCutter } from "./ChunkCutter.ts"
import type { ChunkRules, Cut } from "./ChunkCutter.ts"
import { isSayable, unmarked } from "./Markup.ts"

/** A chunk with what is said for it. */
export interface ScriptedChunk {
  readonly _tag: "Chunk"
  /** As the caller wrote it. */
  readonly content: string
  /** `content` with all but the words blanked out: `form`'s source. */
  readonly plain: string
  readonly form: SpokenForm
  /** False where `content` has no words. */
  readonly sayable: boolean
  readonly speaker: number
  /** ISO 639-1. */
  readonly language: string
  /** Somebody waits for it: nothing before it is still to be spoken. */
  readonly first: boolean
}

export type ScriptItem = Passage | { readonly _tag: "Flush" }

/** A chunk that is cut and not yet prepared. */
export interface Passage extends Cut {
  readonly _tag: "Passage"
}

/** Spoken where the text does not tell its language. */
const defaultLanguage = "en"

const earlyStarts: Readonly<Record<SynthesisSettings["latency"], ChunkRules["early"]>> = {
  low: { clauseFrom: 12, firstLongest: 60 },
  balanced: { clauseFrom: 16, firstLongest: 90 },
  normal: undefined
}

/** One stream of text. */
export class Script {
  readonly #settings: SynthesisSettings
  readonly #cutter: ChunkCutter
  /** Told once, by the text there is when its first chunk is cut: a stream never changes its language midway. */
  #language: string | undefined
  #opening = ""

  constructor(settings: SynthesisSettings) {
    this.#settings = settings
    this.#language = settings.language === "" ? undefined : settings.language
    const { chunkLength, cues, latency, minChunkLength } = settings
    this.#cutter = new ChunkCutter({ chunkLength, minChunkLength, early: earlyStarts[latency], cues })
  }

  read(input: SpeechInput): ReadonlyArray<ScriptItem> {
    if (input._tag === "Flush") return [...this.finish(), { _tag: "Flush" }]
    if (this.#language === undefined && this.#opening.length < 2000) this.#opening += input.text
    return this.#cutter.push(input.text).map(passage)
  }

  /** The rest. */
  finish(): ReadonlyArray<ScriptItem> {
    return this.#cutter.flush().map(passage)
  }

  /** Prepared when its turn comes: a long text costs no time before its first words. */
  chunk({ content, first, speaker }: Passage): ScriptedChunk {
    const plain = unmarked(content, this.#settings.cues)
    const sayable = isSayable(plain)
    if (sayable) this.#language ??= guessLanguage(this.#opening) ?? defaultLanguage
    const language = this.#language ?? defaultLanguage
    const form = this.#settings.normalize ? normalise(plain, language) : spokenForm(plain, blankRuns(plain))
    return { _tag: "Chunk", content, plain, form, sayable, speaker, language, first }
  }
}

const passage = ({ content, first, speaker }: Cut): Passage => ({ _tag: "Passage", content, first, speaker })
