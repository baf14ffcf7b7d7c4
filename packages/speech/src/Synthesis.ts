// The one use case behind every door that speaks: text as it comes -> spoken words -> chunks -> an engine ->
// level, volume, codec -> bytes, and when each word sounds. What is told of time always refers to the bytes sent.
import { Context, Effect, Layer, type Stream } from "effect"
import type { OutputFormat } from "@parley/audio/encode/OutputFormat"
import type { SpeechError } from "./ports/SpeechError.ts"
import type { VoiceCharacter } from "./ports/VoiceCharacter.ts"
import type { SoundLines } from "./sound/SoundLines.ts"
import type { Speech } from "./Speech.ts"
import { makeSynthesis } from "./synthesis/Speaker.ts"

export interface SpokenVoice {
  /** An engine's voice; `""` for its default. */
  readonly id: string
  readonly character?: VoiceCharacter | undefined
}

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

/** What a speaker is told. The end of the stream speaks the rest. */
export type SpeechInput =
  /** Appended verbatim; spoken once a chunk is full or a sentence is over. */
  | { readonly _tag: "Text"; readonly text: string }
  /** Speak what is there now, and let all of it be heard. */
  | { readonly _tag: "Flush" }

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

export class Synthesis extends Context.Service<
  Synthesis,
  {
    /**
     * Pulling slowly synthesizes slowly (at most two chunks ahead); stopping stops the engine at once. A text without
     * anything to say gives a valid file of no sound. Fails with `LanguageNotSupported`, `Overloaded`, ... of the ports.
     */
    readonly speak: (
      settings: SynthesisSettings,
      input: Stream.Stream<SpeechInput>
    ) => Stream.Stream<SynthesisEvent, SpeechError>
  }
>()("@parley/speech/Synthesis") {
  static readonly layer: Layer.Layer<Synthesis, never, Speech | SoundLines> = Layer.effect(
    Synthesis,
    Effect.map(makeSynthesis, (speak) => Synthesis.of({ speak }))
  )
}
