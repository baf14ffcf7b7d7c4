// The main API from a backend or a browser: one method per request, typed by the contract, over `fetch`.
// Failures are `ParleyError`s with the error body's fields; nothing is retried.
import type { TtsModel, TtsRequest } from "@parley/contract/speech/TtsRequest"
import { managementOf } from "./management.ts"
import { phoneOf } from "./phone.ts"
import {
  type AnswerOf,
  addressOf,
  type BodyOf,
  type QueryOf,
  type RequestOf,
  type RequestParts,
  type Route
} from "./Request.ts"

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

const agents = "/v1/agent/agents"
const agent = `${agents}/:agent_id` as const
const sessions = "/v1/agent/sessions"
const session = `${sessions}/:session_id` as const
const ofAgent = (agent_id: string) => ({ params: { agent_id } })
const ofSession = (session_id: string) => ({ params: { session_id } })
const ofModel = (model_id: string) => ({ params: { model_id } })

/** The main API, one method per request. Every method rejects with a `ParleyError`. */
export class ParleyClient {
  private readonly options: ParleyClientOptions

  constructor(options: ParleyClientOptions) {
    this.options = options
  }

  readonly health = () => this.send("GET /health", {})

  readonly agents = {
    list: (query: QueryOf<`GET ${typeof agents}`> = {}) => this.send(`GET ${agents}`, { query }),
    create: (body: BodyOf<`POST ${typeof agents}`>) => this.send(`POST ${agents}`, { body }),
    get: (id: string) => this.send(`GET ${agent}`, ofAgent(id)),
    update: (id: string, body: BodyOf<`PATCH ${typeof agent}`>) =>
      this.send(`PATCH ${agent}`, { ...ofAgent(id), body }),
    remove: (id: string) => this.send(`DELETE ${agent}`, ofAgent(id)),
    duplicate: (id: string, body: BodyOf<`POST ${typeof agent}/duplicate`> = {}) =>
      this.send(`POST ${agent}/duplicate`, { ...ofAgent(id), body }),
    config: (id: string) => this.send(`GET ${agent}/config`, ofAgent(id)),
    configure: (id: string, body: BodyOf<`PATCH ${typeof agent}/config`>) =>
      this.send(`PATCH ${agent}/config`, { ...ofAgent(id), body }),
    publish: (id: string, body: BodyOf<`POST ${typeof agent}/publish`> = {}) =>
      this.send(`POST ${agent}/publish`, { ...ofAgent(id), body }),
    versions: (id: string, query: QueryOf<`GET ${typeof agent}/versions`> = {}) =>
      this.send(`GET ${agent}/versions`, { ...ofAgent(id), query }),
    version: (agent_id: string, number: number) =>
      this.send(`GET ${agent}/versions/:version_number`, { params: { agent_id, version_number: String(number) } }),
    preview: (id: string, body: BodyOf<`POST ${typeof agent}/preview-sessions`> = {}) =>
      this.send(`POST ${agent}/preview-sessions`, { ...ofAgent(id), body })
  }

  readonly sessions = {
    create: (body: BodyOf<`POST ${typeof sessions}`>) => this.send(`POST ${sessions}`, { body }),
    list: (query: QueryOf<`GET ${typeof sessions}`> = {}) => this.send(`GET ${sessions}`, { query }),
    get: (id: string) => this.send(`GET ${session}`, ofSession(id)),
    journal: (id: string) => this.send(`GET ${session}/journal`, ofSession(id)),
    /** Its tracks with addresses that work for a quarter of an hour; 404 when it was not recorded. */
    recording: (id: string) => this.send(`GET ${session}/recording`, ofSession(id)),
    /** Of a telephone call: the SIP messages of both sides. */
    sipTrace: (id: string) => this.send(`GET ${session}/sip-trace`, ofSession(id)),
    /** Makes the analysis of a call that is over once more. */
    analyse: (id: string) => this.send(`POST ${session}/analysis`, ofSession(id)),
    end: (id: string) => this.send(`POST ${session}/end`, ofSession(id))
  }

  readonly speech = {
    /** The sound as it is made, in the format that was asked for. A failure midway fails the stream. */
    speak: async (input: SpeechInput): Promise<ReadableStream<Uint8Array>> => {
      const { model, ...body } = input
      const response = await this.fetch("POST /v1/tts", { body, headers: { model } })
      if (!response.ok || response.body === null) throw errorOf(response.status, await jsonOf(response))
      return response.body
    },
    transcribe: (audio: Blob, { language, words = false }: TranscriptionInput = {}) => {
      const form = new FormData()
      form.append("audio", audio, "recording")
      form.append("ignore_timestamps", String(!words))
      if (language !== undefined) form.append("language", language)
      return this.send("POST /v1/asr", { body: form })
    }
  }

  readonly voices = {
    /** From recordings; what is said in them is recognised where it is not told. */
    create: ({ recordings, ...fields }: VoiceInput) => {
      const form = new FormData()
      for (const [name, value] of Object.entries({ type: "tts", train_mode: "fast", ...fields })) {
        for (const one of [value].flat()) if (one !== undefined) form.append(name, one)
      }
      for (const recording of recordings) form.append("voices", recording, "recording")
      return this.send("POST /model", { body: form })
    },
    list: (query: QueryOf<"GET /model"> = {}) => this.send("GET /model", { query }),
    get: (id: string) => this.send("GET /model/:model_id", ofModel(id)),
    remove: (id: string) => this.send("DELETE /model/:model_id", ofModel(id))
  }

  /** Tools, MCP servers, knowledge, tests, webhooks, money. */
  readonly management = managementOf((route, request) => this.send(route, request))

  /** Numbers, and calls that are placed. */
  readonly phone = phoneOf((route, request) => this.send(route, request))

  private async send<R extends Route>(route: R, request: RequestOf<R>): Promise<AnswerOf<R>> {
    const response = await this.fetch(route, request as RequestParts)
    // Not decoded: the server makes its answers by the schemas of the same endpoints.
    if (response.status === 204) return undefined as AnswerOf<R>
    const answer = await jsonOf(response)
    if (!response.ok) throw errorOf(response.status, answer)
    if (answer === undefined) throw new ParleyError(response.status, "The service did not answer in JSON")
    return answer as AnswerOf<R>
  }

  private fetch(route: Route, request: RequestParts): Promise<Response> {
    const [method, address] = addressOf(route, request)
    const { body, headers = {} } = request
    const isJson = body !== undefined && !(body instanceof FormData)
    const given = Object.entries(headers).filter(([, value]) => value !== undefined)
    return fetch(this.options.baseUrl + address, {
      method,
      headers: {
        authorization: `Bearer ${this.options.apiKey}`,
        ...(isJson ? { "content-type": "application/json" } : {}),
        ...Object.fromEntries(given)
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
