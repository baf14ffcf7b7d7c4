// What the synthesis pipeline is asked for and what it gives: settings, text as it comes, bytes and word times.
import type { OutputFormat } from "@parley/audio/encode/OutputFormat"
import type { VoiceCharacter } from "../ports/VoiceCharacter.ts"

/** A voice, and how it is to sound where an engine can imitate. */
export interface SpokenVoice {
  /** An engine's voice; `""` for its default. */
  readonly id: string
  readonly character?: VoiceCharacter | undefined
}

/** Settings of one stream of speech; they hold for all of it. */
export interface SynthesisSettings {
  /** The first speaks until a `<|speaker:N|>` tag (0-based) names another. */
  readonly voices: readonly [SpokenVoice, ...ReadonlyArray<SpokenVoice>]
  /** ISO 639-1; `""`: told from the text where it can be, else the engine's. */
  readonly language: string
  readonly format: OutputFormat
  /** 0.5 to 2. */
  readonly speed: number
  /** -20 to 20 dB. */
  readonly volumeDb: number
  readonly normalizeLoudness: boolean
  /** Numbers, dates, times, money, telephone numbers and units become words. */
  readonly normalize: boolean
  /** `low` and `balanced` cut the first chunk at a clause; `normal` at sentences only. */
  readonly latency: "low" | "balanced" | "normal"
  /** Longest chunk in characters, 100 to 300. */
  readonly chunkLength: number
  /** Shortest chunk that is cut off on its own, 0 to 100. */
  readonly minChunkLength: number
  /** Longest sound of one chunk: what comes after it is cut off. */
  readonly longestChunkMs?: number | undefined
  /** Stage directions that are not spoken by engines without such a notion: `(happy)` or `[softly]`. */
  readonly cues: "parentheses" | "brackets" | "none"
  /** Whether `Timing` events are wanted. */
  readonly timing: boolean
  /** temperature, top_p and the like, for engines that have them. */
  readonly extra: Readonly<Record<string, unknown>>
}

/** What the pipeline is given. The end of the stream speaks the rest. */
export type SpeechInput =
  /** Appended verbatim; spoken once a chunk is full or a sentence is over. */
  | { readonly _tag: "Text"; readonly text: string }
  /** Speak what is there now, and let all of it be heard. */
  | { readonly _tag: "Flush" }

/** A word of the caller's text and when it sounds. */
export interface TimedWord {
  /** As the caller wrote it, punctuation included. */
  readonly text: string
  /** Character range in the chunk's `content`, end exclusive. */
  readonly from: number
  readonly to: number
  /** Milliseconds from the chunk's first sample. */
  readonly startMs: number
  readonly endMs: number
  readonly exact: boolean
}

/** In the order of the sound. */
export type SynthesisEvent =
  | {
      readonly _tag: "Audio"
      /** Chunks count from 0 over the whole stream. */
      readonly chunk: number
      /** Where the chunk begins in the sound of the whole stream. */
      readonly offsetMs: number
      /** Never empty. */
      readonly bytes: Uint8Array
    }
  /** Replaces any `Timing` of the same chunk; the last one of a chunk holds all its words. Chunks' contents joined are the caller's text. */
  | {
      readonly _tag: "Timing"
      readonly chunk: number
      readonly offsetMs: number
      /** The caller's own text of this chunk, spaces included. */
      readonly content: string
      readonly words: ReadonlyArray<TimedWord>
      /** Length of the chunk's sound. */
      readonly durationMs: number
    }
  /** Everything before the matching `Flush` was given out. */
  | { readonly _tag: "Flushed" }
