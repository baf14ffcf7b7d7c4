// The main API from a backend or a browser: one method per request, typed by the contract, over `fetch`.
// Failures are `ParleyError`s with the error body's fields; nothing is retried.
import type {
  Agent,
  AgentCreate,
  AgentDuplicate,
  AgentPage,
  AgentPatch,
  Publish,
  Version,
  VersionPage,
  VersionSummary
} from "@parley/contract/Agent"
import type { ConfigPatch, ReturnedConfig } from "@parley/contract/AgentConfig/AgentConfig"
import type { Health } from "@parley/contract/Health"
import type { SessionRecording } from "@parley/contract/Recording"
import type { SessionDetail, SessionJournal, SessionPage, SessionTicket } from "@parley/contract/Session"
import type { SessionSipTrace } from "@parley/contract/SipTrace"
import type { PreviewCreate, SessionCreate } from "@parley/contract/SessionRequest"
import type { Transcript } from "@parley/contract/speech/Transcript"
import type { TtsModel, TtsRequest } from "@parley/contract/speech/TtsRequest"
import type { VoiceModel, VoiceModelPage } from "@parley/contract/VoiceModel"
import { managementOf } from "./management.ts"
import { path, type Query, search } from "./path.ts"
import { phoneOf } from "./phone.ts"

/** Where the service is, and the API key of a workspace. */
export interface ParleyClientOptions {
  /** Without a trailing slash; empty for the page's own origin. */
  readonly baseUrl: string
  readonly apiKey: string
}

/** An answer other than 2xx, with its status and the service's words. */
export class ParleyError extends Error {
  /** HTTP status; 0 when the service could not be reached. */
  readonly status: number
  readonly reason: string | null
  constructor(status: number, message: string, reason: string | null = null) {
    super(message)
    this.name = "ParleyError"
    this.status = status
    this.reason = reason
  }
}

/** The body of POST /v1/tts, and the model. */
export type SpeechInput = typeof TtsRequest.Encoded & { readonly model?: TtsModel }

/** Sound to recognise. */
export interface TranscriptionInput {
  /** ISO 639-1 hint. */
  readonly language?: string
  /** Whether the times of the words are wanted. */
  readonly words?: boolean
}

/** A voice to clone. */
export interface VoiceInput {
  readonly title: string
  /** 1 to 20 audio files. */
  readonly recordings: ReadonlyArray<Blob>
  /** What is said in them, in their order. */
  readonly texts?: ReadonlyArray<string>
  readonly description?: string
  readonly visibility?: "unlist" | "private"
  readonly tags?: ReadonlyArray<string>
}

/** The main API, one method per request. Every method rejects with a `ParleyError`. */
export class ParleyClient {
  private readonly options: ParleyClientOptions

  constructor(options: ParleyClientOptions) {
    this.options = options
  }

  readonly health = (): Promise<Health> => this.request("GET", "/health")

  readonly agents = {
    list: (query: Query = {}): Promise<typeof AgentPage.Type> =>
      this.request("GET", `/v1/agent/agents${search(query)}`),
    create: (body: typeof AgentCreate.Encoded): Promise<Agent> => this.request("POST", "/v1/agent/agents", body),
    get: (id: string): Promise<Agent> => this.request("GET", path`/v1/agent/agents/${id}`),
    update: (id: string, patch: typeof AgentPatch.Encoded): Promise<Agent> =>
      this.request("PATCH", path`/v1/agent/agents/${id}`, patch),
    remove: (id: string): Promise<void> => this.request("DELETE", path`/v1/agent/agents/${id}`),
    duplicate: (id: string, body: typeof AgentDuplicate.Encoded = {}): Promise<Agent> =>
      this.request("POST", path`/v1/agent/agents/${id}/duplicate`, body),
    config: (id: string): Promise<ReturnedConfig> => this.request("GET", path`/v1/agent/agents/${id}/config`),
    configure: (id: string, patch: typeof ConfigPatch.Encoded): Promise<ReturnedConfig> =>
      this.request("PATCH", path`/v1/agent/agents/${id}/config`, patch),
    publish: (id: string, body: typeof Publish.Encoded = {}): Promise<VersionSummary> =>
      this.request("POST", path`/v1/agent/agents/${id}/publish`, body),
    versions: (id: string, query: Query = {}): Promise<typeof VersionPage.Type> =>
      this.request("GET", path`/v1/agent/agents/${id}/versions` + search(query)),
    version: (id: string, number: number): Promise<Version> =>
      this.request("GET", path`/v1/agent/agents/${id}/versions/${String(number)}`),
    preview: (id: string, body: typeof PreviewCreate.Encoded = {}): Promise<SessionTicket> =>
      this.request("POST", path`/v1/agent/agents/${id}/preview-sessions`, body)
  }

  readonly sessions = {
    create: (body: typeof SessionCreate.Encoded): Promise<SessionTicket> =>
      this.request("POST", "/v1/agent/sessions", body),
    list: (query: Query = {}): Promise<typeof SessionPage.Type> =>
      this.request("GET", `/v1/agent/sessions${search(query)}`),
    get: (id: string): Promise<SessionDetail> => this.request("GET", path`/v1/agent/sessions/${id}`),
    journal: (id: string): Promise<typeof SessionJournal.Type> =>
      this.request("GET", path`/v1/agent/sessions/${id}/journal`),
    /** Its tracks with addresses that work for a quarter of an hour; 404 when it was not recorded. */
    recording: (id: string): Promise<SessionRecording> => this.request("GET", path`/v1/agent/sessions/${id}/recording`),
    /** Of a telephone call: what its peers said to each other. */
    sipTrace: (id: string): Promise<SessionSipTrace> => this.request("GET", path`/v1/agent/sessions/${id}/sip-trace`),
    /** Makes the analysis of a call that is over once more. */
    analyse: (id: string): Promise<void> => this.request("POST", path`/v1/agent/sessions/${id}/analysis`),
    end: (id: string): Promise<void> => this.request("POST", path`/v1/agent/sessions/${id}/end`)
  }

  readonly speech = {
    /** The sound as it is made, in the format that was asked for. A failure midway fails the stream. */
    speak: async (body: SpeechInput): Promise<ReadableStream<Uint8Array>> => {
      const { model, ...rest } = body
      const response = await this.fetch("POST", "/v1/tts", rest, model === undefined ? {} : { model })
      if (!response.ok || response.body === null) throw errorOf(response.status, await jsonOf(response))
      return response.body
    },
    transcribe: (audio: Blob, { language, words = false }: TranscriptionInput = {}): Promise<Transcript> => {
      const form = new FormData()
      form.append("audio", audio, "recording")
      form.append("ignore_timestamps", String(!words))
      if (language !== undefined) form.append("language", language)
      return this.request("POST", "/v1/asr", form)
    }
  }

  readonly voices = {
    /** From recordings; what is said in them is recognised where it is not told. */
    create: ({ recordings, ...fields }: VoiceInput): Promise<VoiceModel> => {
      const form = new FormData()
      for (const [name, value] of Object.entries({ type: "tts", train_mode: "fast", ...fields })) {
        for (const one of [value].flat()) if (one !== undefined) form.append(name, one)
      }
      for (const recording of recordings) form.append("voices", recording, "recording")
      return this.request("POST", "/model", form)
    },
    list: (query: Query = {}): Promise<VoiceModelPage> => this.request("GET", `/model${search(query)}`),
    get: (id: string): Promise<VoiceModel> => this.request("GET", path`/model/${id}`),
    remove: (id: string): Promise<void> => this.request("DELETE", path`/model/${id}`)
  }

  /** Tools, MCP servers, knowledge, tests, webhooks, money. */
  readonly office = managementOf((method, where, body) => this.request(method, where, body))

  /** Numbers, and calls that are placed. */
  readonly phone = phoneOf((method, where, body, headers) => this.request(method, where, body, headers))

  private async request<A>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>
  ): Promise<A> {
    const response = await this.fetch(method, path, body, headers)
    if (response.status === 204) return undefined as A
    const answer = await jsonOf(response)
    if (!response.ok) throw errorOf(response.status, answer)
    if (answer === undefined) throw new ParleyError(response.status, "The service did not answer in JSON")
    // The server's answers are made by the same schemas as these types.
    return answer as A
  }

  private fetch(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {}
  ): Promise<Response> {
    const isJson = body !== undefined && !(body instanceof FormData)
    return fetch(this.options.baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${this.options.apiKey}`,
        ...(isJson ? { "content-type": "application/json" } : {}),
        ...headers
      },
      ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : body })
    }).catch(() => {
      throw new ParleyError(0, "The service cannot be reached")
    })
  }
}

const jsonOf = (response: Response): Promise<unknown> => response.json().catch(() => undefined)

const errorOf = (status: number, answer: unknown): ParleyError => {
  const body = (typeof answer === "object" && answer !== null ? answer : {}) as { message?: unknown; reason?: unknown }
  const message = typeof body.message === "string" ? body.message : `The service answered ${status}`
  return new ParleyError(status, message, typeof body.reason === "string" ? body.reason : null)
}
