// Why a destination must not be called from a number, by the number's provider: bought numbers call only the allowed
// countries, no premium numbers and no SIP URIs; imported ones whatever their carrier takes. Pure.
import { isE164, type PhoneProvider } from "@parley/contract/PhoneNumber"
import { countryOf, isPremium } from "./destinations.ts"

/** Why a number must not be called. */
export type DestinationFault =
  | "self_call_blocked"
  | "premium_destination_blocked"
  | "destination_not_allowed"
  | "destination_invalid"

/** What the rules depend on beside the number and the destination. */
export interface DestinationRules {
  /** ISO 3166-1 alpha-2; bought numbers call only these. */
  readonly countries: ReadonlyArray<string>
  /** Whether the destination is a bought number of the platform, or any of the workspace's own. */
  readonly isOwn: boolean
}

/** Whoever asks: the API, or an agent that hands a call over. `to`: E.164 or a SIP URI. */
export const destinationFault = (
  provider: PhoneProvider,
  to: string,
  { countries, isOwn }: DestinationRules
): DestinationFault | undefined => {
  if (isOwn) return "self_call_blocked"
  if (!isE164(to)) return provider === "sip" && /^sips?:/i.test(to) ? undefined : "destination_invalid"
  if (provider === "sip") return undefined
  if (isPremium(to)) return "premium_destination_blocked"
  return countries.includes(countryOf(to) ?? "") ? undefined : "destination_not_allowed"
}

/** In words, for the field that names it. */
export const sentenceOf = (reason: DestinationFault, countries: ReadonlyArray<string>): string => {
  if (reason === "self_call_blocked") return "is a number of this platform"
  if (reason === "premium_destination_blocked") return "is a premium or service number"
  if (reason === "destination_invalid") return "is for imported numbers: bought ones call no SIP URIs"
  return `must be in one of ${countries.join(", ")}`
}
