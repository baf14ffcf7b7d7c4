// How a number is reached and where its calls go, as it is kept: passwords sealed.
import type { SipHeaders, TerminationTransport, TrunkInput } from "@parley/contract/SipTrunk"
import type { Secrets } from "../storage/Secrets.ts"

export interface StoredTrunk {
  readonly inbound: Credentials | null
  /** IP addresses and blocks; empty for any. */
  readonly allowedAddresses: ReadonlyArray<string>
  /** `host` or `host:port`; empty when no call can be placed. */
  readonly uri: string
  readonly transport: TerminationTransport
  readonly termination: Credentials | null
  readonly headers: SipHeaders
}

export interface Credentials {
  readonly username: string
  /** Sealed. */
  readonly password: string
}

/** An empty password beside a user name keeps the one that is stored. */
export const sealTrunk = (
  input: TrunkInput,
  kept: StoredTrunk | undefined,
  seal: Secrets["Service"]["seal"]
): StoredTrunk => {
  const credentials = (name: string, password: string, before: Credentials | null): Credentials | null =>
    name === ""
      ? null
      : {
          username: name,
          password: password === "" ? (before?.password ?? seal("", null)) : seal(password, before?.password ?? null)
        }
  return {
    inbound: credentials(input.inbound_auth_username ?? "", input.inbound_auth_password ?? "", kept?.inbound ?? null),
    allowedAddresses: input.inbound_allowed_addresses ?? [],
    uri: input.termination_uri ?? "",
    transport: input.termination_transport ?? "auto",
    termination: credentials(
      input.termination_auth_username ?? "",
      input.termination_auth_password ?? "",
      kept?.termination ?? null
    ),
    headers: input.termination_headers ?? {}
  }
}

/** Whether anybody could be let in: a trunk without a factor would let in everybody. */
export const hasFactor = ({ allowedAddresses, inbound }: StoredTrunk): boolean =>
  inbound !== null || allowedAddresses.length > 0
