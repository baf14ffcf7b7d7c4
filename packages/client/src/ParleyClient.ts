// The main API from a backend or a browser: one method per request, typed by the contract, over `fetch`.
// Failures are `ParleyError`s with the error body's fields; nothing is retried.
import type { Agent, AgentCreate, AgentPage, AgentPatch, Publish, VersionSummary } from "@parley/contract/Agent"
import type { ConfigPatch, ReturnedConfig } from "@parley/contract/AgentConfig/AgentConfig"
import type { Health } from "@parley/contract/Health"
import type { SessionDetail, SessionPage, SessionTicket } from "@parley/contract/Session"
import type { PreviewCreate, SessionCreate } from "@parley/contract/SessionRequest"

export interface ParleyClientOptions {
  /** Without a trailing slash; empty for the page's own origin. */
  readonly baseUrl: string
  readonly apiKey: string
}

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

type Query = Readonly<Record<string, string | number | boolean | undefined>>

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
    get: (id: string): Promise<Agent> => this.request("GET", agentPath(id)),
    update: (id: string, patch: typeof AgentPatch.Encoded): Promise<Agent> =>
      this.request("PATCH", agentPath(id), patch),
    remove: (id: string): Promise<void> => this.request("DELETE", agentPath(id)),
    config: (id: string): Promise<ReturnedConfig> => this.request("GET", `${agentPath(id)}/config`),
    configure: (id: string, patch: typeof ConfigPatch.Encoded): Promise<ReturnedConfig> =>
      this.request("PATCH", `${agentPath(id)}/config`, patch),
    publish: (id: string, body: typeof Publish.Encoded = {}): Promise<VersionSummary> =>
      this.request("POST", `${agentPath(id)}/publish`, body),
    preview: (id: string, body: typeof PreviewCreate.Encoded = {}): Promise<SessionTicket> =>
      this.request("POST", `${agentPath(id)}/preview-sessions`, body)
  }

  readonly sessions = {
    create: (body: typeof SessionCreate.Encoded): Promise<SessionTicket> =>
      this.request("POST", "/v1/agent/sessions", body),
    list: (query: Query = {}): Promise<typeof SessionPage.Type> =>
      this.request("GET", `/v1/agent/sessions${search(query)}`),
    get: (id: string): Promise<SessionDetail> => this.request("GET", `/v1/agent/sessions/${encodeURIComponent(id)}`),
    end: (id: string): Promise<void> => this.request("POST", `/v1/agent/sessions/${encodeURIComponent(id)}/end`)
  }

  private async request<A>(method: string, path: string, body?: unknown): Promise<A> {
    const response = await fetch(this.options.baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${this.options.apiKey}`,
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    }).catch(() => {
      throw new ParleyError(0, "The service cannot be reached")
    })
    if (response.status === 204) return undefined as A
    const answer: unknown = await response.json().catch(() => undefined)
    if (!response.ok) throw errorOf(response.status, answer)
    if (answer === undefined) throw new ParleyError(response.status, "The service did not answer in JSON")
    // The server's answers are made by the same schemas as these types.
    return answer as A
  }
}

const agentPath = (id: string): string => `/v1/agent/agents/${encodeURIComponent(id)}`

const search = (query: Query): string => {
  const given = Object.entries(query).flatMap(([key, value]): ReadonlyArray<[string, string]> =>
    value === undefined ? [] : [[key, String(value)]]
  )
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`
}

const errorOf = (status: number, answer: unknown): ParleyError => {
  const body = (typeof answer === "object" && answer !== null ? answer : {}) as { message?: unknown; reason?: unknown }
  const message = typeof body.message === "string" ? body.message : `The service answered ${status}`
  return new ParleyError(status, message, typeof body.reason === "string" ? body.reason : null)
}
