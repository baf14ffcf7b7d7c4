// A number's trunk as it is kept, and as the door needs it: passwords opened. Pure.
import { headerPrefix } from "@parley/contract/Vendor"
import type { InboundTrunk, OutboundTrunk, SipHeaders } from "@parley/transport/phone/Phone"
import type { PhoneLine } from "@parley/workspace/phone/PhoneLines"
import { type Credentials, hasFactor } from "@parley/workspace/phone/Trunk"
import type { Redacted } from "effect"

type Open = (sealed: string) => Redacted.Redacted<string>

/** Undefined for a number nobody could be let in by. */
export const inboundTrunk = (line: PhoneLine | undefined, open: Open): InboundTrunk | undefined =>
  line?.trunk === undefined || !hasFactor(line.trunk)
    ? undefined
    : { id: line.id, allowedAddresses: line.trunk.allowedAddresses, digest: opened(line.trunk.inbound, open) }

/** Undefined for a number that takes calls only. */
export const outboundTrunk = ({ trunk }: PhoneLine, open: Open): OutboundTrunk | undefined =>
  trunk === undefined || trunk.uri === ""
    ? undefined
    : { uri: trunk.uri, transport: trunk.transport, credentials: opened(trunk.termination, open) }

/** The number's own, then the call's, which go before; then the session's id. */
export const headersOf = (
  line: PhoneLine,
  ofCall: SipHeaders,
  { sessionId, vendor }: { readonly sessionId: string; readonly vendor: string }
): SipHeaders => {
  const named = new Set(Object.keys(ofCall).map((name) => name.toLowerCase()))
  const ofNumber = Object.entries(line.trunk?.headers ?? {}).filter(([name]) => !named.has(name.toLowerCase()))
  return { ...Object.fromEntries(ofNumber), ...ofCall, [`${headerPrefix(vendor)}Session-Id`]: sessionId }
}

const opened = (credentials: Credentials | null, open: Open) =>
  credentials === null ? undefined : { username: credentials.username, password: open(credentials.password) }
