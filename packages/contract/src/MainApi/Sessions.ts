// Sessions: create, list, look at, end (spec: POST and GET /v1/agent/sessions; decisions 7).
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { BadRequest, Conflict, Invalid, NotFound, PaymentRequired, Unavailable } from "../Errors.ts"
import { Id } from "../Field.ts"
import { SessionDetail, SessionJournal, SessionPage, SessionQuery, SessionTicket } from "../Session.ts"
import { SessionCreate } from "../SessionRequest.ts"
import { Authorization } from "./Authorization.ts"
import { Validation } from "./Validation.ts"

const params = { session_id: Id }

export class SessionsApi extends HttpApiGroup.make("sessions")
  .add(
    HttpApiEndpoint.post("createSession", "/", {
      payload: SessionCreate,
      success: SessionTicket.pipe(HttpApiSchema.status(201)),
      error: [BadRequest, PaymentRequired, NotFound, Conflict, Invalid, Unavailable]
    }),
    HttpApiEndpoint.get("listSessions", "/", { query: SessionQuery, success: SessionPage, error: BadRequest }),
    HttpApiEndpoint.get("getSession", "/:session_id", { params, success: SessionDetail, error: NotFound }),
    HttpApiEndpoint.get("getSessionJournal", "/:session_id/journal", {
      params,
      success: SessionJournal,
      error: NotFound
    }),
    HttpApiEndpoint.post("analyseSessionAgain", "/:session_id/analysis", {
      params,
      success: HttpApiSchema.NoContent,
      error: [NotFound, Conflict]
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
