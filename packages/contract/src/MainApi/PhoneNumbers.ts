// Telephone numbers: bought, imported, bound to agents, released.
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { BadGateway, BadRequest, Conflict, Forbidden, Invalid, NotFound, PaymentRequired } from "../Errors.ts"
import { Id } from "../Field.ts"
import {
  AvailableNumbers,
  AvailableQuery,
  PhoneNumber,
  PhoneNumberCreate,
  PhoneNumberPage,
  PhoneNumberPatch,
  PhoneNumberQuery,
  SipConfigPut
} from "../PhoneNumber.ts"
import { Authorization } from "./Authorization.ts"
import { Validation } from "./Validation.ts"

const base = "/v1/agent/phone-numbers"
const one = `${base}/:phone_number_id` as const
const params = { phone_number_id: Id }

/** Endpoints of telephone numbers. */
export class PhoneNumbersApi extends HttpApiGroup.make("phoneNumbers")
  .add(
    HttpApiEndpoint.get("listPhoneNumbers", base, {
      query: PhoneNumberQuery,
      success: PhoneNumberPage,
      error: BadRequest
    }),
    HttpApiEndpoint.post("createPhoneNumber", base, {
      payload: PhoneNumberCreate,
      success: PhoneNumber.pipe(HttpApiSchema.status(201)),
      error: [PaymentRequired, Forbidden, Conflict, Invalid, BadGateway]
    }),
    HttpApiEndpoint.get("getPhoneNumber", one, { params, success: PhoneNumber, error: NotFound }),
    HttpApiEndpoint.patch("updatePhoneNumber", one, {
      params,
      payload: PhoneNumberPatch,
      success: PhoneNumber,
      error: [NotFound, Invalid]
    }),
    HttpApiEndpoint.put("replaceSipConfig", `${one}/sip-config`, {
      params,
      payload: SipConfigPut,
      success: PhoneNumber,
      error: [NotFound, Invalid]
    }),
    HttpApiEndpoint.delete("releasePhoneNumber", one, {
      params,
      success: HttpApiSchema.NoContent,
      error: NotFound
    }),
    HttpApiEndpoint.get("listAvailablePhoneNumbers", "/v1/agent/available-phone-numbers", {
      query: AvailableQuery,
      success: AvailableNumbers,
      error: BadRequest
    })
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Phone numbers" })) {}
