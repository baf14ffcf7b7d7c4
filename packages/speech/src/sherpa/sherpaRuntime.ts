// The part of sherpa-onnx-node (1.13) that we use, with types: the package has none. To be loaded in a process of its
// own only: on a model it does not like the runtime ends its process without a word. It is no part of the default
// install, because its library has espeak-ng (GPL-3.0) in it: see `optional/sherpa`.
import { createRequire } from "node:module"

type Files = Readonly<Record<string, string>>
export type TtsModelConfig = Readonly<Partial<Record<"kokoro" | "kitten" | "vits" | "zipvoice", Files>>>
/** Files of the one kind of model that is used. */
export type AsrModelConfig = Readonly<Record<string, Files | string | number>>

interface Engine {
  readonly numThreads: number
  readonly debug: 0
}

interface Waveform {
  readonly samples: Float32Array
  readonly sampleRate: number
}

/** How a phrase is spoken. */
export interface GenerationConfig {
  readonly speed: number
  readonly sid?: number
  readonly numSteps?: number
  readonly silenceScale?: number
  readonly referenceAudio?: Float32Array
  readonly referenceSampleRate?: number
  readonly referenceText?: string
}

/** A synthesizer of the runtime. */
export interface OfflineTts {
  readonly numSpeakers: number
  readonly sampleRate: number
  readonly generateAsync: (request: {
    readonly text: string
    readonly generationConfig: GenerationConfig
    readonly enableExternalBuffer: false
    /** Called after each sentence with its sound; false ends the work, one sentence late. */
    readonly onProgress: (progress: { readonly samples: Float32Array }) => boolean
  }) => Promise<Waveform>
}

/** What the runtime recognised. */
export interface Hypothesis {
  readonly text: string
  readonly tokens: ReadonlyArray<string>
  /** Seconds from the stream's begin, one for each token, or none at all. */
  readonly timestamps: ReadonlyArray<number>
  readonly durations?: ReadonlyArray<number>
  /** As the model writes it: `en`, `<|en|>`. */
  readonly lang?: string
}

interface OfflineStream {
  readonly acceptWaveform: (sound: Waveform) => void
}

/** A recogniser of whole utterances. */
export interface OfflineRecognizer {
  readonly createStream: () => OfflineStream
  readonly decodeAsync: (stream: OfflineStream) => Promise<Hypothesis>
}

/** One utterance under way. Samples are floats at 16 kHz. */
export interface OnlineStream {
  readonly acceptWaveform: (sound: Waveform) => void
  readonly inputFinished: () => void
}

/** Works on the calling thread. */
export interface OnlineRecognizer {
  readonly createStream: () => OnlineStream
  readonly isReady: (stream: OnlineStream) => boolean
  readonly decode: (stream: OnlineStream) => void
  readonly getResult: (stream: OnlineStream) => Hypothesis
}

interface RecogniserConfig {
  readonly featConfig: { readonly sampleRate: 16_000; readonly featureDim: 80 }
  /** With the threads and `debug`. */
  readonly modelConfig: AsrModelConfig
}

interface Runtime {
  readonly OfflineTts: {
    readonly createAsync: (config: {
      readonly model: TtsModelConfig & Engine
      readonly maxNumSentences: 1
      readonly silenceScale: number
    }) => Promise<OfflineTts>
  }
  readonly OfflineRecognizer: { readonly createAsync: (config: RecogniserConfig) => Promise<OfflineRecognizer> }
  readonly OnlineRecognizer: new (config: RecogniserConfig & { readonly enableEndpoint: 0 }) => OnlineRecognizer
}

const found = createRequire(new URL("../../optional/sherpa/package.json", import.meta.url))

/** Throws where it is not installed or the platform has no build of it. */
export const loadRuntime = (): Runtime => found("sherpa-onnx-node") as Runtime

/** For people: how to get it; undefined when it is there. */
export const runtimeMissing = (): string | undefined => {
  try {
    found.resolve("sherpa-onnx-node")
    return undefined
  } catch {
    return "not installed: npm ci --prefix packages/speech/optional/sherpa"
  }
}
