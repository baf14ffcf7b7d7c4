// A trunk as it is edited. Passwords are never read; one that is left empty stays beside its user name.
import type { PhoneNumber, SipConfigPut } from "@parley/contract/PhoneNumber"

type Input = typeof SipConfigPut.Encoded

/** A SIP trunk as it is edited; passwords are empty unless they were typed now. */
export interface EditedTrunk {
  readonly inboundUser: string
  readonly inboundPassword: string
  /** One a line. */
  readonly allowed: string
  readonly uri: string
  readonly transport: NonNullable<Input["termination_transport"]>
  readonly user: string
  readonly password: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
}

export const transports = ["auto", "udp", "tcp", "tls"] as const

export const noTrunk: EditedTrunk = {
  inboundUser: "",
  inboundPassword: "",
  allowed: "",
  uri: "",
  transport: "auto",
  user: "",
  password: "",
  headers: []
}

/** The trunk of an imported number, without passwords. */
export const trunkOf = (number: PhoneNumber): EditedTrunk => ({
  inboundUser: number.inbound_auth_username,
  inboundPassword: "",
  allowed: number.inbound_allowed_addresses.join("\n"),
  uri: number.termination_uri,
  transport: number.termination_transport === "" ? "auto" : number.termination_transport,
  user: number.termination_auth_username,
  password: "",
  headers: Object.entries(number.termination_headers)
})

/** The trunk as the API takes it; a password that was not typed is left out, so that the stored one stays. */
export const inputOf = (trunk: EditedTrunk): Omit<Input, "provider"> => ({
  inbound_auth_username: trunk.inboundUser,
  ...(trunk.inboundPassword === "" ? {} : { inbound_auth_password: trunk.inboundPassword }),
  inbound_allowed_addresses: trunk.allowed
    .split(/[\s,]+/)
    .map((address) => address.trim())
    .filter((address) => address !== ""),
  termination_uri: trunk.uri,
  termination_transport: trunk.transport,
  termination_auth_username: trunk.user,
  ...(trunk.password === "" ? {} : { termination_auth_password: trunk.password }),
  termination_headers: Object.fromEntries(trunk.headers.filter(([name]) => name !== ""))
})
