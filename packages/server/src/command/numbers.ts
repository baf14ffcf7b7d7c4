// `parley numbers list | add | remove | dialling`: the inventory numbers are bought from, each with the trunk its calls
// come from and go to, and who may place calls. A running service knows with the next call.
import { countryOf } from "@parley/workspace/phone/destinations"
import { isE164 } from "@parley/contract/PhoneNumber"
import { TerminationTransport, terminationUri, trunkFaults, type TrunkInput } from "@parley/contract/SipTrunk"
import { sentenceOf } from "@parley/contract/Fault"
import { parseBlock } from "@parley/workspace/outbound/IpAddress"
import { LocalInventory } from "@parley/workspace/phone/LocalInventory"
import { PhoneLines } from "@parley/workspace/phone/PhoneLines"
import { sealTrunk } from "@parley/workspace/phone/Trunk"
import { Secrets } from "@parley/workspace/storage/Secrets"
import { StartFault } from "@parley/workspace/storage/StartFault"
import { Workspaces } from "@parley/workspace/identity/Workspaces"
import { Effect, Schema } from "effect"
import { Settings } from "../Settings.ts"
import { usage } from "./usage.ts"

/** As `parseArgs` takes them. */
export const numberOptions = {
  trunk: { type: "string" },
  transport: { type: "string" },
  auth: { type: "string" },
  allow: { type: "string" },
  "inbound-auth": { type: "string" },
  place: { type: "string" },
  "original-caller": { type: "boolean" }
} as const

export interface NumberOptions {
  readonly trunk?: string | undefined
  readonly transport?: string | undefined
  /** `USER:PASSWORD`, as `inbound-auth`. */
  readonly auth?: string | undefined
  readonly allow?: string | undefined
  readonly "inbound-auth"?: string | undefined
  /** `San Francisco, CA` */
  readonly place?: string | undefined
  readonly "original-caller"?: boolean | undefined
}

export const runNumbers = Effect.fnUntraced(function* (
  words: ReadonlyArray<string>,
  workspace: string,
  options: NumberOptions
) {
  const inventory = yield* LocalInventory
  const [verb, value, ...rest] = words
  if (rest.length > 0 || (value === undefined) !== (verb === "list")) return yield* usage
  switch (verb) {
    case "list":
      return (yield* inventory.list)
        .map(({ locality, phoneNumber, region, taken, trunk }) =>
          [phoneNumber, taken ? "sold" : "for sale", trunk.uri || "takes calls only", `${locality}, ${region}`].join(
            "  "
          )
        )
        .join("\n")
    case "add":
      return yield* add(value ?? "", options)
    case "remove":
      return (yield* inventory.remove(value ?? ""))
        ? `removed ${value}`
        : yield* new StartFault({ message: `there is no number ${value} that is for sale` })
    case "dialling": {
      if (value !== "on" && value !== "off") return yield* usage
      const id = yield* (yield* Workspaces).find(workspace)
      if (id === undefined) return yield* new StartFault({ message: `there is no workspace ${workspace}` })
      yield* (yield* PhoneLines).allowDialling(id, value === "on")
      return `${workspace}  ${value === "on" ? "may place calls" : "may not place calls"}`
    }
    default:
      return yield* usage
  }
})

const add = Effect.fnUntraced(function* (phoneNumber: string, options: NumberOptions) {
  const inventory = yield* LocalInventory
  const secrets = yield* Secrets
  const { vendor } = yield* Settings
  if (!isE164(phoneNumber)) return yield* new StartFault({ message: "NUMBER must be such as +14155550123" })
  const input = inputOf(options)
  const uri = Schema.decodeUnknownResult(terminationUri)(input.termination_uri ?? "")
  if (uri._tag === "Failure") return yield* new StartFault({ message: "--trunk must be HOST or HOST:PORT" })
  const transport = Schema.decodeUnknownResult(TerminationTransport)(options.transport ?? "auto")
  if (transport._tag === "Failure") {
    return yield* new StartFault({ message: "--transport must be auto, udp, tcp or tls" })
  }
  const allowed = input.inbound_allowed_addresses ?? []
  if (allowed.some((address) => parseBlock(address) === undefined)) {
    return yield* new StartFault({ message: "--allow must be a list of IP addresses and blocks" })
  }
  const faults = trunkFaults(input, { inbound: false, termination: false }, vendor)
  if (faults.length > 0) {
    const factor = (input.inbound_auth_username ?? "") === "" && allowed.length === 0
    return yield* new StartFault({
      message: factor ? "--allow or --inbound-auth is needed: somebody must be able to call" : sentenceOf(faults)
    })
  }
  const [locality = "", region = ""] = (options.place ?? "").split(",").map((part) => part.trim())
  yield* inventory.put({
    phoneNumber,
    friendlyName: friendly(phoneNumber),
    locality,
    region,
    countryCode: countryOf(phoneNumber) ?? "",
    trunk: sealTrunk({ ...input, termination_transport: transport.success }, undefined, secrets.seal),
    originalCaller: options["original-caller"] === true
  })
  return `${phoneNumber}  for sale, unless it is sold`
})

const inputOf = (options: NumberOptions): TrunkInput => {
  const [inbound, termination] = [pair(options["inbound-auth"]), pair(options.auth)]
  return {
    inbound_auth_username: inbound.user,
    inbound_auth_password: inbound.password,
    inbound_allowed_addresses: (options.allow ?? "").split(",").flatMap((entry) => entry.trim() || []),
    termination_uri: options.trunk ?? "",
    termination_auth_username: termination.user,
    termination_auth_password: termination.password
  }
}

const pair = (text = "") => {
  const at = text.indexOf(":")
  return at < 0 ? { user: text, password: "" } : { user: text.slice(0, at), password: text.slice(at + 1) }
}

/** `(415) 555-0123`; elsewhere the number itself. */
const friendly = (number: string): string =>
  number.replace(
    /^\+1(\d{3})(\d{3})(\d{4})$/,
    (_all, area: string, exchange: string, line: string) => `(${area}) ${exchange}-${line}`
  )
