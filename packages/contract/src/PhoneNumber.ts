// Telephone numbers of a workspace: bought from the operator's inventory (`carrier`) or
// imported from a carrier of the customer's own (`sip`).
import { Schema } from "effect"
import { fault, type Fault } from "./Fault.ts"
import { text, textMatching } from "./Field.ts"
import { pageFields, PageQuery } from "./Page.ts"
import { TerminationTransport, trunkFields } from "./SipTrunk.ts"

/** Whether the text has the form of E.164: a plus, seven to fifteen digits, no zero first. */
export const isE164 = (number: string): boolean => /^\+[1-9]\d{6,14}$/.test(number)

/** A number as a query parameter holds it: an unescaped plus arrives there as a space. */
export const numberInQuery = (value: string): string => {
  const digits = value.trim()
  return /^\d/.test(digits) ? `+${digits}` : digits
}

/** A number in E.164: a plus, seven to fifteen digits. Whether such a number exists is not looked at here. */
const E164 = textMatching(/^\+[1-9]\d{6,14}$/, 16, "must be an E.164 number such as +14155550123")

/** `carrier`: bought; `sip`: imported; `livekit`: neither, and places no calls. */
export const PhoneProvider = Schema.Literals(["livekit", "carrier", "sip"])
export type PhoneProvider = typeof PhoneProvider.Type

/** `provisioning` while it is bought; `error` when that failed. */
export const PhoneNumberStatus = Schema.Literals(["provisioning", "active", "error", "released"])
/** Whether the carrier knows which number a target of a transfer sees. */
export const CallerIdSync = Schema.Literals(["synced", "pending", "error", "carrier_managed"])

const label = text(120)
const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** Both variants; which fields belong to which is `createFaults`'s affair. */
export const PhoneNumberCreate = Schema.Struct({
  provider: Schema.Literals(["carrier", "sip"]),
  phone_number: E164,
  label: maybe(label),
  agent_id: maybe(text(128)),
  ...trunkFields
})
export type PhoneNumberCreate = typeof PhoneNumberCreate.Type

/** Fields that do not belong to the provider. */
export const createFaults = (input: PhoneNumberCreate): ReadonlyArray<Fault> =>
  input.provider === "sip"
    ? []
    : Object.keys(trunkFields)
        .filter((field) => field in input)
        .map((field) => fault(["body", field], "unknown field for this provider", "extra_forbidden"))

/** The whole trunk anew. */
export const SipConfigPut = Schema.Struct({ provider: Schema.optionalKey(Schema.Literal("sip")), ...trunkFields })
export type SipConfigPut = typeof SipConfigPut.Type

/** What is omitted stays. */
export const PhoneNumberPatch = Schema.Struct({
  label: Schema.optionalKey(label),
  /** Null unbinds: the number rings busy. */
  agent_id: maybe(text(128)),
  /** Numbers of the inventory only. */
  cold_transfer_use_original_caller: Schema.optionalKey(Schema.Boolean),
  /** Once more, after `caller_id_sync_status` became `error`. */
  retry_caller_id_sync: Schema.optionalKey(Schema.Boolean)
})
export type PhoneNumberPatch = typeof PhoneNumberPatch.Type

/** A number as it is returned, without passwords. */
export const PhoneNumber = Schema.Struct({
  phone_number_id: Schema.String,
  workspace_id: Schema.String,
  phone_number: Schema.String,
  provider: PhoneProvider,
  /** Null while unbound. */
  agent_id: Schema.NullOr(Schema.String),
  status: PhoneNumberStatus,
  created_at: Schema.String,
  updated_at: Schema.String,
  label: Schema.String,
  cold_transfer_use_original_caller: Schema.NullOr(Schema.Boolean),
  cold_transfer_use_original_caller_effective: Schema.NullOr(Schema.Boolean),
  caller_id_sync_status: CallerIdSync,
  caller_id_sync_error: Schema.String,
  status_detail: Schema.String,
  supports_outbound: Schema.Boolean,
  // Of imported numbers; empty otherwise.
  termination_uri: Schema.String,
  inbound_auth_username: Schema.String,
  inbound_allowed_addresses: Schema.Array(Schema.String),
  termination_transport: Schema.Union([TerminationTransport, Schema.Literal("")]),
  /** Empty without credentials: a change of host, port or TLS drops them unless the password is sent with it. */
  termination_auth_username: Schema.String,
  termination_headers: Schema.Record(Schema.String, Schema.String)
})
export type PhoneNumber = typeof PhoneNumber.Type

/** One page, newest first. */
export const PhoneNumberPage = Schema.Struct({ phone_numbers: Schema.Array(PhoneNumber), ...pageFields })

/** Each given field must match. */
export const PhoneNumberQuery = {
  phone_number: Schema.optionalKey(text(64)),
  agent_id: Schema.optionalKey(text(128)),
  ...PageQuery
}
const PhoneNumberQueryStruct = Schema.Struct(PhoneNumberQuery)
export type PhoneNumberQuery = typeof PhoneNumberQueryStruct.Type

/** A number that is for sale. */
export const AvailableNumber = Schema.Struct({
  phone_number: Schema.String,
  friendly_name: Schema.String,
  locality: Schema.String,
  region: Schema.String,
  country_code: Schema.String,
  number_type: Schema.String,
  /** Decimal currency units. */
  monthly_price: Schema.String
})
export type AvailableNumber = typeof AvailableNumber.Type

/** At most 50. */
export const AvailableNumbers = Schema.Struct({ available_phone_numbers: Schema.Array(AvailableNumber) })

/** Each given field must match. */
export const AvailableQuery = {
  country_code: Schema.optionalKey(Schema.Literals(["US", "CA"])),
  area_code: Schema.optionalKey(textMatching(/^\d{3}$/, 3, "must be three digits")),
  /** `toll_free` is known and not sold (400). */
  number_type: Schema.optionalKey(Schema.Literals(["local", "toll_free"])),
  provider: Schema.optionalKey(Schema.Literal("carrier"))
}
const AvailableQueryStruct = Schema.Struct(AvailableQuery)
export type AvailableQuery = typeof AvailableQueryStruct.Type
