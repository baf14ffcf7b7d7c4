// What lets a browser into a session: the ticket that creating the session returned, or just its token and the
// address of the service. What is wrong with it is said here, before anything is connected.
import { AgentSessionError } from "./AgentSessionError.ts"

/** What creating a session returned, as much of it as joining needs. */
export interface SessionTicket {
  readonly session_id: string
  readonly token: string
  readonly rtc_url: string
  readonly transport?: string
  /** ISO 8601; past it the ticket is refused here already. */
  readonly expires_at?: string
}

/** A ticket, or a token with the address it is good for. */
export interface TicketSource {
  readonly session?: SessionTicket
  readonly sessionToken?: string
  readonly serverUrl?: string
}

/** Throws an AgentSessionError for a ticket that cannot be used here. */
export const ticketOf = ({ serverUrl, session, sessionToken }: TicketSource): SessionTicket => {
  if (session === undefined) {
    if (sessionToken !== undefined && serverUrl !== undefined) {
      return { session_id: roomOf(sessionToken), token: sessionToken, rtc_url: serverUrl }
    }
    throw new AgentSessionError("session_request_failed", "give a session, or a sessionToken and its serverUrl")
  }
  if (session.transport !== undefined && session.transport !== "livekit") {
    throw new AgentSessionError("unsupported_transport", `transport ${session.transport} is not known here`)
  }
  if (session.expires_at !== undefined && Date.parse(session.expires_at) < Date.now()) {
    throw new AgentSessionError("session_expired", "the session's time to join is over")
  }
  return session
}

/** The session a token is for; it is the token's room. */
const roomOf = (token: string): string => {
  try {
    const body = token.split(".")[1]?.replaceAll("-", "+").replaceAll("_", "/") ?? ""
    const claims: unknown = JSON.parse(atob(body))
    return String(Reflect.get(Object(Reflect.get(Object(claims), "video")), "room") ?? "")
  } catch {
    return ""
  }
}
