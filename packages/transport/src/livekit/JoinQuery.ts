// What a client says in the address of its signalling socket. `/rtc` (v0, two peer connections) writes plain
// query parameters; `/rtc/v1` (one peer connection) writes a protobuf, usually gzipped, that may already carry
// the first offer, so that media starts one round trip after the join.
import { JoinRequest } from "@livekit/protocol"
import type { IncomingMessage } from "node:http"
import { readJoinRequest } from "./joinRequest.ts"

/** A join or a resume, as its address says it. */
export interface JoinQuery {
  readonly mode: "single" | "dual"
  readonly token: string
  /** The participant to resume; undefined for a new join. */
  readonly resumeSid: string | undefined
  readonly request: JoinRequest
}

/** `join` is a websocket, `validate` a plain request. */
export type SignalPath = "join" | "validate"

/** Which of our four paths this is; undefined for a path that is not ours. */
export const signalPath = (
  url: string
): { readonly path: SignalPath; readonly mode: "single" | "dual" } | undefined => {
  const { pathname } = parse(url)
  switch (pathname.replace(/\/$/, "")) {
    case "/rtc":
      return { path: "join", mode: "dual" }
    case "/rtc/v1":
      return { path: "join", mode: "single" }
    case "/rtc/validate":
      return { path: "validate", mode: "dual" }
    case "/rtc/v1/validate":
      return { path: "validate", mode: "single" }
    default:
      return undefined
  }
}

/** From the query, else from `Authorization: Bearer`. Empty when there is none. */
export const tokenOf = (request: IncomingMessage): string => {
  const inQuery = parse(request.url ?? "").searchParams.get("access_token")
  return inQuery ?? /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? ""
}

/** Undefined when the join request cannot be read. */
export const readJoinQuery = (request: IncomingMessage, mode: "single" | "dual"): JoinQuery | undefined => {
  const query = parse(request.url ?? "").searchParams
  const token = tokenOf(request)
  if (mode === "dual") {
    const isResume = query.get("reconnect") === "1"
    return { mode, token, resumeSid: isResume ? (query.get("sid") ?? "") : undefined, request: new JoinRequest() }
  }
  const join = readJoinRequest(query.get("join_request") ?? "")
  return join && { mode, token, resumeSid: join.reconnect ? join.participantSid : undefined, request: join }
}

const parse = (url: string): URL => {
  try {
    return new URL(url, "http://host")
  } catch {
    return new URL("http://host/")
  }
}
