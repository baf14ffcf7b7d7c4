// A telephone call that is to be placed, and every reason why it is not. The number to call is judged
// after the agent, so its form is no affair of the schema.
import { Schema } from "effect"
import { jsonObject, text, textMatching } from "./Field.ts"
import { Overrides } from "./SessionRequest.ts"
import { SipHeaders } from "./SipTrunk.ts"

const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** The body of a call that is to be placed. */
export const PhoneCallCreate = Schema.Struct({
  agent_id: text(128),
  phone_number_id: text(128),
  to_number: text(64),
  dynamic_variables: maybe(Schema.Record(Schema.String, Schema.Unknown)),
  overrides: maybe(Overrides),
  metadata: maybe(jsonObject(64 * 1024)),
  llm_extra_body: maybe(jsonObject(16 * 1024)),
  /** Imported numbers only. */
  sip_headers: maybe(SipHeaders)
})
export type PhoneCallCreate = typeof PhoneCallCreate.Type

/** A repeated `Idempotency-Key` gives the same call for 24 hours. */
export const PhoneCallHeaders = {
  "idempotency-key": Schema.optionalKey(
    textMatching(/^[\x21-\x7e]{1,255}$/, 255, "must be 1 to 255 printable ASCII characters without spaces")
  )
}

/** The call will ring; its session tells how it went. */
export const PhoneCallQueued = Schema.Struct({ session_id: Schema.String, status: Schema.Literal("queued") })
export type PhoneCallQueued = typeof PhoneCallQueued.Type

/** Why a call is not placed. */
export type PhoneCallReason =
  | "insufficient_credit"
  | "outbound_disabled"
  | "number_not_found"
  | "agent_not_found"
  | "agent_not_published"
  | "idempotency_key_conflict"
  | "number_provider_unsupported"
  | "number_termination_missing"
  | "number_inactive"
  | "sip_headers_unsupported"
  | "destination_invalid"
  | "destination_not_allowed"
  | "premium_destination_blocked"
  | "self_call_blocked"
  | "idempotency_key_reuse"
  | "daily_limit_exceeded"
  | "concurrency_limit_exceeded"
