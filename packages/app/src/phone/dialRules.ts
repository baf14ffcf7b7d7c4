// Why a call is not placed from this number to that one, in the order the reasons are looked at: the number's provider, its
// state, its termination, the SIP headers, the form of the destination (E.164), and where it leads. Pure.
import { Invalid } from "@parley/contract/Errors"
import { fault } from "@parley/contract/Fault"
import type { PhoneCallCreate, PhoneCallReason } from "@parley/contract/PhoneCall"
import { isE164 } from "@parley/contract/PhoneNumber"
import { sipHeaderFaults } from "@parley/contract/SipTrunk"
import { type DestinationFault, sentenceOf } from "@parley/workspace/dialling/destinationFault"
import type { PhoneLine } from "@parley/workspace/phone/PhoneLines"

/** What the rules depend on beside the number and the request. */
export interface CallRules {
  /** ISO 3166-1 alpha-2; bought numbers call only these. */
  readonly countries: ReadonlyArray<string>
  readonly vendor: string
  /** Why `to_number` must not be called from this number. */
  readonly destination: DestinationFault | undefined
}

/** The 422 with its `reason`; undefined when the call may be placed. */
export const callFault = (line: PhoneLine, request: PhoneCallCreate, rules: CallRules): Invalid | undefined => {
  const to = request.to_number
  const managed = line.provider !== "sip"
  const headers = request.sip_headers ?? {}
  if (line.provider === "livekit") {
    return invalidCall("number_provider_unsupported", "phone_number_id", "is not a number that can place calls")
  }
  if (line.status !== "active") return invalidCall("number_inactive", "phone_number_id", "is not active")
  if ((line.trunk?.uri ?? "") === "") {
    return invalidCall("number_termination_missing", "phone_number_id", "has no termination: it only takes calls")
  }
  if (managed && Object.keys(headers).length > 0) {
    return invalidCall("sip_headers_unsupported", "sip_headers", "are for imported numbers")
  }
  const wrong = sipHeaderFaults(headers, "sip_headers", rules.vendor)
  if (wrong[0] !== undefined) {
    return new Invalid({ message: `sip_headers: ${wrong[0].msg}`, errors: wrong })
  }
  if (!isE164(to)) {
    return invalidCall("destination_invalid", "to_number", "must be an E.164 number such as +14155550123")
  }
  const { countries, destination } = rules
  return destination === undefined
    ? undefined
    : invalidCall(destination, "to_number", sentenceOf(destination, countries))
}

const invalidCall = (reason: PhoneCallReason, field: keyof PhoneCallCreate, message: string): Invalid =>
  new Invalid({ message: `${field}: ${message}`, reason, errors: [fault(["body", field], message)] })
