// The messages between the server and an engine process. Each process serves one model. Work is numbered by the server;
// an answer to a number that is no longer awaited is dropped there.
import type { AsrModelConfig, Hypothesis, TtsModelConfig } from "./sherpaRuntime.ts"

/** What a process is started for, as JSON in its arguments. */
export type EngineTask =
  | { readonly _tag: "Synthesise"; readonly model: TtsModelConfig; readonly threads: number }
  | {
      readonly _tag: "Recognise"
      readonly model: AsrModelConfig
      readonly streaming: boolean
      readonly threads: number
    }

/** A phrase to be spoken; `speaker` counts from 0, `speed` is 0.5 to 2. */
export interface SpeechOrder {
  readonly text: string
  readonly speaker: number
  readonly speed: number
  /** Steps of a diffusing engine. */
  readonly steps?: number
  /** The bytes of a mono WAV file and what it says: speak like this. */
  readonly reference?: { readonly wav: Uint8Array; readonly text: string }
}

/** A phrase to speak, or an utterance (mono 16 kHz) to transcribe. */
export type EngineJob =
  | { readonly _tag: "Speak"; readonly order: SpeechOrder }
  | { readonly _tag: "Transcribe"; readonly samples: Int16Array }

/** To a process that does one job after the other. */
export type ToEngine =
  | (EngineJob & { readonly id: number })
  /** What is under way may still be finished; it is answered in any case. */
  | { readonly _tag: "Cancel"; readonly id: number }

/** `Done` or `Failed` is the last about each number. */
export type FromEngine =
  | { readonly _tag: "Ready" }
  | { readonly _tag: "Sound"; readonly id: number; readonly samples: Int16Array; readonly sampleRate: number }
  | { readonly _tag: "Transcribed"; readonly id: number; readonly hypothesis: Hypothesis }
  | { readonly _tag: "Done"; readonly id: number }
  | { readonly _tag: "Failed"; readonly id: number }

/** To a process that recognises while callers speak; utterances are numbered across all callers. */
export type ToRecogniser = UtteranceOf &
  (
    | { readonly _tag: "Audio"; readonly samples: Int16Array }
    /** Answered by one `Final`. */
    | { readonly _tag: "Commit" }
    | { readonly _tag: "Discard" }
  )

interface UtteranceOf {
  readonly caller: number
  readonly utterance: number
}

export type FromRecogniser =
  | { readonly _tag: "Ready" }
  | (UtteranceOf &
      (
        | { readonly _tag: "Partial"; readonly text: string }
        | { readonly _tag: "Final"; readonly hypothesis: Hypothesis; readonly lengthMs: number }
        /** This much audio of the caller has been worked through since the last report. */
        | { readonly _tag: "Digested"; readonly samples: number }
        | { readonly _tag: "Failed" }
      ))
