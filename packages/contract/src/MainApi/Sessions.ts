// Sessions: create, list, look at, end.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import {
  BadRequest,
  Conflict,
  Forbidden,
  Invalid,
  NotFound,
  PaymentRequired,
  TooManyRequests,
  Unavailable
} from "../Errors.ts"
import { Id } from "../Field.ts"
import { SessionRecording } from "../Recording.ts"
import { SessionDetail, SessionJournal, SessionPage, SessionQuery, SessionTicket } from "../Session.ts"
import { SessionSipTrace } from "../SipTrace.ts"
import { SessionCreate } from "../SessionRequest.ts"
import { Authorization, VisitorAuthorization } from "./Authorization.ts"
import { Validation } from "./Validation.ts"

const params = { session_id: Id }

/** With a key, or without one for an agent that is public to the page it comes from. */
export class SessionStartApi extends HttpApiGroup.make("sessionStart")
  .add(
    HttpApiEndpoint.post("createSession", "/v1/agent/sessions", {
      payload: SessionCreate,
      success: SessionTicket.pipe(HttpApiSchema.status(201)),
      error: [BadRequest, PaymentRequired, Forbidden, NotFound, Conflict, Invalid, TooManyRequests, Unavailable]
    }),
    HttpApiEndpoint.get("getAgentWidget", "/v1/agent/agents/:agent_id/widget", {
      params: { agent_id: Id },
      success: Schema.Struct({ agent_name: Schema.String }),
      error: [Forbidden, NotFound]
    })
  )
  .middleware(Validation)
  .middleware(VisitorAuthorization)
  .annotateMerge(OpenApi.annotations({ title: "Sessions" })) {}

/** Endpoints of sessions. */
export class SessionsApi extends HttpApiGroup.make("sessions")
  .add(
    HttpApiEndpoint.get("listSessions", "/", { query: SessionQuery, success: SessionPage, error: BadRequest }),
    HttpApiEndpoint.get("getSession", "/:session_id", { params, success: SessionDetail, error: NotFound }),
    HttpApiEndpoint.get("getSessionJournal", "/:session_id/journal", {
      params,
      success: SessionJournal,
      error: NotFound
    }),
    HttpApiEndpoint.get("getSessionRecording", "/:session_id/recording", {
      params,
      success: SessionRecording,
      error: NotFound
    }),
    HttpApiEndpoint.get("getSessionSipTrace", "/:session_id/sip-trace", {
      params,
      success: SessionSipTrace,
      error: NotFound
    }),
    HttpApiEndpoint.post("analyseSessionAgain", "/:session_id/analysis", {
      params,
      success: HttpApiSchema.NoContent,
      error: [NotFound, Conflict, PaymentRequired]
    }),
    HttpApiEndpoint.post("endSession", "/:session_id/end", {
      params,
      success: HttpApiSchema.NoContent,
      error: NotFound
    })
  )
  .middleware(Validation)
  .middleware(Authorization)
  .prefix("/v1/agent/sessions")
  .annotateMerge(OpenApi.annotations({ title: "Sessions" })) {}
