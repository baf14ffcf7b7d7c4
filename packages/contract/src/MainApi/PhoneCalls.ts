// Calls that are placed. The answer comes before the telephone rings; the session tells how it went.
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
import { PhoneCallCreate, PhoneCallHeaders, PhoneCallQueued } from "../PhoneCall.ts"
import { Authorization } from "./Authorization.ts"
import { Validation } from "./Validation.ts"

/** Endpoints of calls that are placed. */
export class PhoneCallsApi extends HttpApiGroup.make("phoneCalls")
  .add(
    HttpApiEndpoint.post("createPhoneCall", "/v1/agent/phone-calls", {
      headers: PhoneCallHeaders,
      payload: PhoneCallCreate,
      success: PhoneCallQueued.pipe(HttpApiSchema.status(201)),
      error: [BadRequest, PaymentRequired, Forbidden, NotFound, Conflict, Invalid, TooManyRequests, Unavailable]
    })
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Phone calls" })) {}
