// A number's trunk as it is stored, and as the SIP server needs it: with its passwords opened. Pure.
import { headerPrefix } from "@parley/contract/Vendor"
import type { InboundTrunk, OutboundTrunk, SipHeaders } from "@parley/transport/phone/Phone"
import type { PhoneLine } from "@parley/workspace/phone/PhoneLines"
import { type Credentials, hasFactor } from "@parley/workspace/phone/Trunk"
import type { OpenSecrets } from "@parley/workspace/storage/SecretBox"

/** Undefined for a number without an inbound factor: nobody may call it. */
export const inboundTrunk = (
  { id, provider, trunk, trunkOwner }: PhoneLine,
  secretsOf: OpenSecrets
): InboundTrunk | undefined =>
  trunk === undefined || !hasFactor(trunk)
    ? undefined
    : {
        id,
        isBought: provider !== "sip",
        allowedAddresses: trunk.allowedAddresses,
        digest: opened(trunk.inbound, secretsOf(trunkOwner))
      }

/** Undefined for a number without a termination: it takes calls only. */
export const outboundTrunk = ({ trunk, trunkOwner }: PhoneLine, secretsOf: OpenSecrets): OutboundTrunk | undefined =>
  trunk === undefined || trunk.uri === ""
    ? undefined
    : { uri: trunk.uri, transport: trunk.transport, credentials: opened(trunk.termination, secretsOf(trunkOwner)) }

/** The number's own headers, overridden by the call's without regard to case; then the session's id. */
export const headersOf = (
  line: PhoneLine,
  ofCall: SipHeaders,
  { sessionId, vendor }: { readonly sessionId: string; readonly vendor: string }
): SipHeaders => {
  const named = new Set(Object.keys(ofCall).map((name) => name.toLowerCase()))
  const ofNumber = Object.entries(line.trunk?.headers ?? {}).filter(([name]) => !named.has(name.toLowerCase()))
  return { ...Object.fromEntries(ofNumber), ...ofCall, [`${headerPrefix(vendor)}Session-Id`]: sessionId }
}

const opened = (credentials: Credentials | null, { open }: ReturnType<OpenSecrets>) =>
  credentials === null ? undefined : { username: credentials.username, password: open(credentials.password) }
