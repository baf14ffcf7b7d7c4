// How a number is reached and where its calls go, as it is kept: passwords sealed.
import { TerminationTransport, type TrunkInput } from "@parley/contract/SipTrunk"
import { Schema } from "effect"
import type { OwnedSecrets } from "../storage/SecretBox.ts"

/** Who may call a number, or how we name ourselves to its carrier. */
export const Credentials = Schema.Struct({
  username: Schema.String,
  /** Sealed. */
  password: Schema.String
})
export type Credentials = typeof Credentials.Type

/** A trunk as it is stored. */
export const StoredTrunk = Schema.Struct({
  /** Null: calls are let in by their address alone. */
  inbound: Schema.NullOr(Credentials),
  /** IP addresses and blocks; empty for any. */
  allowedAddresses: Schema.Array(Schema.String),
  /** `host` or `host:port`; empty when no call can be placed. */
  uri: Schema.String,
  transport: TerminationTransport,
  termination: Schema.NullOr(Credentials),
  headers: Schema.Record(Schema.String, Schema.String)
})
export type StoredTrunk = typeof StoredTrunk.Type

/**
 * An empty password beside a user name keeps the one that is stored; the one for our calls only while they go to the same
 * place, or else a user name without a password is dropped with it: somebody could send them to a place of his own.
 */
export const sealTrunk = (
  input: TrunkInput,
  kept: StoredTrunk | undefined,
  seal: OwnedSecrets["seal"]
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
    termination:
      moves(input, kept) && !input.termination_auth_password
        ? null
        : credentials(
            input.termination_auth_username ?? "",
            input.termination_auth_password ?? "",
            kept?.termination ?? null
          ),
    headers: input.termination_headers ?? {}
  }
}

/** Whether our calls would go to another host or port than the stored password was given for, or no longer over TLS. */
const moves = (input: TrunkInput, kept: StoredTrunk | undefined): boolean => {
  if (kept === undefined || kept.termination === null) return false
  const isSame = kept.uri.toLowerCase() === (input.termination_uri ?? "").toLowerCase()
  return !isSame || (kept.transport === "tls" && input.termination_transport !== "tls")
}

/** Whether anybody could be let in: a trunk without a factor would let in everybody. */
export const hasFactor = ({ allowedAddresses, inbound }: StoredTrunk): boolean =>
  inbound !== null || allowedAddresses.length > 0
