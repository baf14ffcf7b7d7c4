// A session with a public agent, asked for by the page itself: no key, the browser says where the page comes from.
import { AgentSessionError, wordsOf } from "./AgentSessionError.ts"
import { type SessionTicket, ticketOf } from "./SessionTicket.ts"

/** `agentId` and what goes with it; the others are left out without it. */
export interface PublicSessionOptions {
  readonly agentId?: string
  /** Address of the service, without a trailing slash; the page's own when it is left out. */
  readonly serverUrl?: string
  readonly language?: string
  readonly timezone?: string
  readonly worldContext?: boolean
  readonly overrides?: { readonly voice_id?: string; readonly language?: string }
  readonly dynamicVariables?: Readonly<Record<string, string | number | boolean>>
  readonly endUserId?: string
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly toolEvents?: boolean
}

/** Throws an AgentSessionError. */
export const requestTicket = async (agentId: string, options: PublicSessionOptions): Promise<SessionTicket> => {
  const {
    dynamicVariables,
    endUserId,
    language,
    metadata,
    serverUrl = "",
    timezone,
    toolEvents,
    worldContext
  } = options
  const overrides = { ...options.overrides, ...(language === undefined ? {} : { language }) }
  const body = {
    agent_id: agentId,
    client_timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...(timezone === undefined ? {} : { timezone }),
    ...(worldContext === undefined ? {} : { world_context: worldContext }),
    ...(Object.keys(overrides).length === 0 ? {} : { overrides }),
    ...(dynamicVariables === undefined ? {} : { dynamic_variables: dynamicVariables }),
    ...(endUserId === undefined ? {} : { end_user_id: endUserId }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(toolEvents === undefined ? {} : { tool_events: toolEvents })
  }
  const response = await fetch(`${serverUrl}/v1/agent/sessions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  }).catch((error: unknown) => {
    throw new AgentSessionError("session_request_failed", wordsOf(error))
  })
  const answer: unknown = await response.json().catch(() => undefined)
  if (response.ok) return ticketOf({ session: answer as SessionTicket })
  const message = String(Reflect.get(Object(answer), "message") ?? `the service answered ${response.status}`)
  throw new AgentSessionError(codeOf(response.status, message), message)
}

const codeOf = (status: number, message: string) =>
  status !== 403 ? "session_request_failed" : /origin/i.test(message) ? "origin_forbidden" : "agent_not_public"
