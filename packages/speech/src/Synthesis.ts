// The use case of every API that speaks: text as it comes -> spoken words -> chunks -> an engine ->
// level, volume, codec -> bytes, and when each word sounds. Times always refer to the bytes sent.
import { Context, Effect, Layer, type Stream } from "effect"
import type { SpeechError } from "./ports/SpeechError.ts"
import type { SpeechInput, SynthesisEvent, SynthesisSettings } from "./synthesis/SynthesisRequest.ts"
import type { EncoderPool } from "./encoding/EncoderPool.ts"
import type { Speech } from "./Speech.ts"
import { makeSynthesisPipeline } from "./synthesis/SynthesisPipeline.ts"

export type {
  SpeechInput,
  SpokenVoice,
  SynthesisEvent,
  SynthesisSettings,
  TimedWord
} from "./synthesis/SynthesisRequest.ts"

/** Text to sound. */
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
  static readonly layer: Layer.Layer<Synthesis, never, Speech | EncoderPool> = Layer.effect(
    Synthesis,
    Effect.map(makeSynthesisPipeline, (speak) => Synthesis.of({ speak }))
  )
}
