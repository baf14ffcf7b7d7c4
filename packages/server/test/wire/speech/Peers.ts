// The official SDKs, which lie outside the workspace (`packages/server/test/peers`), and of their types what the
// tests use. They are loaded at run time, so that everything else can be built and checked without them.
import { existsSync } from "node:fs"
import { createRequire } from "node:module"

const manifest = new URL("../../peers/package.json", import.meta.url)

export const peersMissing = !existsSync(new URL("node_modules/.package-lock.json", manifest))
if (peersMissing && process.env["CI"] === "true")
  throw new Error("The official SDKs are missing: npm test installs them")

const load = createRequire(manifest)

type Fields = Readonly<Record<string, unknown>>
type Sound = ReadableStream<Uint8Array>
type Ask<A, Given = Fields> = (given?: Given, options?: Fields) => Promise<A>
type AskAbout<A> = (id: string, given?: Fields, options?: Fields) => Promise<A>

export interface CharacterTimes {
  readonly characters: ReadonlyArray<string>
  readonly characterStartTimesSeconds: ReadonlyArray<number>
  readonly characterEndTimesSeconds: ReadonlyArray<number>
}

export interface TimedSound {
  readonly audioBase64: string
  readonly alignment?: CharacterTimes
  readonly normalizedAlignment?: CharacterTimes
}

export interface TranscriptWord {
  readonly text: string
  readonly type: string
  readonly start?: number
  readonly end?: number
  readonly logprob: number
}

interface ElevenVoice {
  readonly voiceId: string
  readonly name?: string
  readonly labels?: Readonly<Record<string, string>>
}

export interface RealtimeConnection {
  on(event: string, heard: (message: Fields) => void): void
  send(chunk: { readonly audioBase64: string; readonly sampleRate?: number }): void
  commit(): void
  close(): void
}

export interface ElevenLabs {
  readonly textToSpeech: {
    readonly convert: AskAbout<Sound>
    readonly stream: AskAbout<Sound>
    readonly convertWithTimestamps: AskAbout<TimedSound>
    readonly streamWithTimestamps: AskAbout<AsyncIterable<TimedSound>>
  }
  readonly voices: {
    readonly getAll: Ask<{ readonly voices: ReadonlyArray<ElevenVoice> }>
    readonly search: Ask<{
      readonly voices: ReadonlyArray<ElevenVoice>
      readonly hasMore: boolean
      readonly totalCount: number
      readonly nextPageToken?: string
    }>
    readonly get: AskAbout<ElevenVoice>
  }
  readonly models: { readonly list: Ask<ReadonlyArray<{ readonly modelId: string }>> }
  readonly user: {
    readonly get: Ask<{ readonly userId: string; readonly subscription: { readonly characterLimit: number } }>
  }
  readonly speechToText: {
    readonly convert: Ask<{
      readonly text: string
      readonly languageCode: string
      readonly languageProbability: number
      readonly words: ReadonlyArray<TranscriptWord>
    }>
    readonly realtime: { readonly connect: (options: Fields) => Promise<RealtimeConnection> }
  }
}

export const elevenLabs = (baseUrl: string, apiKey: string): ElevenLabs => {
  const { ElevenLabsClient } = load("@elevenlabs/elevenlabs-js") as {
    readonly ElevenLabsClient: new (options: Fields) => ElevenLabs
  }
  return new ElevenLabsClient({ baseUrl, apiKey, maxRetries: 0 })
}

interface RouterTranscript {
  readonly text: string
  readonly duration?: number
  readonly words?: ReadonlyArray<{ readonly word: string; readonly start: number; readonly end: number }>
  readonly segments?: ReadonlyArray<{ readonly id: number; readonly text: string }>
}

export interface OpenRouter {
  readonly tts: { readonly createSpeech: Ask<Sound> }
  readonly stt: {
    readonly createTranscription: Ask<RouterTranscript>
    readonly createTranscriptionMultipart: Ask<RouterTranscript>
  }
  readonly models: {
    readonly list: Ask<AsyncIterable<{ readonly result: { readonly data: ReadonlyArray<{ readonly id: string }> } }>>
  }
}

export const openRouter = (serverURL: string, apiKey: string | undefined): OpenRouter => {
  const { OpenRouter } = load("@openrouter/sdk") as { readonly OpenRouter: new (options: Fields) => OpenRouter }
  return new OpenRouter({ serverURL, apiKey, retryConfig: { strategy: "none" } })
}

export interface OpenAi {
  readonly audio: {
    readonly speech: { readonly create: Ask<Response> }
    readonly transcriptions: { readonly create: Ask<RouterTranscript> }
  }
  readonly models: { readonly list: Ask<{ readonly data: ReadonlyArray<{ readonly id: string }> }> }
}

export const openAi = (baseURL: string, apiKey: string): OpenAi => {
  const { OpenAI } = load("openai") as { readonly OpenAI: new (options: Fields) => OpenAi }
  return new OpenAI({ baseURL, apiKey, maxRetries: 0 })
}

interface VoiceModel {
  readonly _id: string
  readonly title: string
  readonly state: string
  readonly visibility: string
}

export interface FishAudio {
  readonly textToSpeech: {
    readonly convert: (request: Fields, model?: string, options?: Fields) => Promise<Sound>
    readonly convertRealtime: (
      request: Fields,
      text: AsyncIterable<string>,
      model?: string
    ) => Promise<{ on(event: string, heard: (given: unknown) => void): void; close(): void }>
  }
  readonly speechToText: {
    readonly convert: Ask<{
      readonly text: string
      readonly duration: number
      readonly segments: ReadonlyArray<{ readonly text: string; readonly start: number; readonly end: number }>
    }>
  }
  readonly voices: {
    readonly ivc: { readonly create: Ask<VoiceModel> }
    readonly search: Ask<{ readonly total: number; readonly items: ReadonlyArray<VoiceModel> }>
    readonly get: AskAbout<VoiceModel>
    readonly update: AskAbout<Fields>
    readonly delete: AskAbout<Fields>
  }
  readonly user: {
    readonly get_api_credit: Ask<{ readonly credit: string }>
    readonly get_package: Ask<{ readonly total: number }>
  }
}

/** Names of the live connection's events. */
export const liveEvents = { audio: "audio_chunk", error: "error", close: "close" } as const

export const fishAudio = (baseUrl: string, apiKey: string): FishAudio => {
  // Its CommonJS build says that it is none.
  const { FishAudioClient } = load("./node_modules/fish-audio/dist/esm/index.js") as {
    readonly FishAudioClient: new (options: Fields) => FishAudio
  }
  return new FishAudioClient({ baseUrl, apiKey })
}
