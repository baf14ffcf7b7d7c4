// How a customer's own carrier is reached, as it is asked for: who may call the number, where its calls go,
// and headers of one's own. A password is write-only; rules that no single field can say are in `trunkFaults`.
import { Schema } from "effect"
import { fault, type Fault } from "./Fault.ts"
import { listOf, text, textMatching } from "./Field.ts"
import { headerPrefix } from "./Vendor.ts"

/** `auto`: by DNS, or UDP. */
export const TerminationTransport = Schema.Literals(["auto", "udp", "tcp", "tls"])
export type TerminationTransport = typeof TerminationTransport.Type

const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** `host` or `host:port`, without a scheme: a name, an IPv4 address, or an IPv6 address in brackets. */
const bareHost =
  /^(?:(?=.{1,253}(?::|$))(?:[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?)(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?)*\.?|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/

/** Where calls go: a host with or without a port; empty for nowhere. */
export const terminationUri = text(300).check(
  Schema.makeFilter((uri: string) => {
    if (uri === "") return undefined
    const port = /:(\d+)$/.exec(uri.replace(/^\[.*\]/, ""))?.[1]
    const inRange = port === undefined || (Number(port) >= 1 && Number(port) <= 65_535)
    return (bareHost.test(uri) && inRange) || "must be a host, or a host and a port, without a scheme"
  })
)

/** What a digest can carry: no control characters, no quotes. */
const userName = textMatching(/^[^\p{Cc}"\\]*$/u, 128, "must not contain control characters or quotes")
const password = textMatching(/^[^\p{Cc}]*$/u, 128, "must not contain control characters")

/** Headers that may be added to a call. */
const maxSipHeaders = 20

/** Headers by name; which names are taken is `sipHeaderFaults`. */
export const SipHeaders = Schema.Record(Schema.String, text(1024)).check(
  Schema.makeFilter(
    (headers: Readonly<Record<string, string>>) =>
      Object.keys(headers).length <= maxSipHeaders || `must have at most ${maxSipHeaders} entries`
  )
)
export type SipHeaders = typeof SipHeaders.Type

/** The fields of a trunk, as a new number and a replaced trunk have them. */
export const trunkFields = {
  inbound_auth_username: maybe(userName),
  inbound_auth_password: maybe(password),
  inbound_allowed_addresses: maybe(listOf(text(64), 32)),
  termination_uri: maybe(terminationUri),
  termination_transport: maybe(TerminationTransport),
  termination_auth_username: maybe(userName),
  termination_auth_password: maybe(password),
  termination_headers: maybe(SipHeaders)
}

const TrunkInput = Schema.Struct(trunkFields)
/** A trunk as it is sent. */
export type TrunkInput = typeof TrunkInput.Type

/** Which passwords are kept already: an empty one beside a user name stays what it is. */
export interface KeptPasswords {
  readonly inbound: boolean
  readonly termination: boolean
}

/** What no single field can say: who could call in without a factor, which header is taken. */
export const trunkFaults = (input: TrunkInput, kept: KeptPasswords, vendor: string): ReadonlyArray<Fault> => {
  const faults: Array<Fault> = []
  const wrong = (field: keyof TrunkInput, message: string) => void faults.push(fault(["body", field], message))
  const pair = (side: "inbound" | "termination") => {
    const [name, secret] = [input[`${side}_auth_username`] ?? "", input[`${side}_auth_password`] ?? ""]
    if (name !== "" && secret === "" && !kept[side]) wrong(`${side}_auth_password`, "is needed beside a user name")
    if (name === "" && secret !== "") wrong(`${side}_auth_username`, "is needed beside a password")
  }
  pair("inbound")
  pair("termination")
  if ((input.inbound_auth_username ?? "") === "" && (input.inbound_allowed_addresses ?? []).length === 0) {
    wrong("inbound_auth_username", "or inbound_allowed_addresses is needed: somebody must be able to call the number")
  }
  if ((input.termination_uri ?? "") === "") {
    if ((input.termination_auth_username ?? "") !== "") wrong("termination_uri", "is needed beside credentials for it")
    if (Object.keys(input.termination_headers ?? {}).length > 0) wrong("termination_uri", "is needed beside headers")
  }
  return [...faults, ...sipHeaderFaults(input.termination_headers ?? {}, "termination_headers", vendor)]
}

/** `X-...` and `User-to-User` (RFC 7433), each once whatever its case; the service's own are reserved. */
export const sipHeaderFaults = (headers: SipHeaders, field: string, vendor: string): ReadonlyArray<Fault> => {
  const seen = new Set<string>()
  return Object.entries(headers).flatMap(([name, value]) => {
    const wrong = (message: string) => [fault(["body", field, name.slice(0, 64)], message)]
    const key = name.toLowerCase()
    const toUser = key === "user-to-user"
    if (!toUser && !/^x-[a-z0-9-]{1,62}$/.test(key)) return wrong("must be named X-... or User-to-User")
    if (key.startsWith(headerPrefix(vendor).toLowerCase()) || key.startsWith("x-parley-")) return wrong("is reserved")
    if (seen.has(key)) return wrong("is there twice")
    seen.add(key)
    const most = toUser ? 128 : 1024
    return value.length >= 1 && value.length <= most && /^[\x20-\x7e]+$/.test(value)
      ? []
      : wrong(`must be 1 to ${most} printable ASCII characters`)
  })
}
