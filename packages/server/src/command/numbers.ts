// `parley numbers list | add | remove | dialling`: the inventory numbers are bought from, each with the trunk its calls
// come from and go to, and who may place calls. A running service knows with the next call.
import { countryOf } from "@parley/workspace/dialling/destinations"
import { isE164 } from "@parley/contract/PhoneNumber"
import { TerminationTransport, terminationUri, trunkFaults, type TrunkInput } from "@parley/contract/SipTrunk"
import { sentenceOf } from "@parley/contract/Fault"
import { parseBlock } from "@parley/workspace/outbound/IpAddress"
import { LocalInventory } from "@parley/workspace/phone/LocalInventory"
import { PhoneLines } from "@parley/workspace/phone/PhoneLines"
import { sealTrunk } from "@parley/workspace/phone/Trunk"
import { secretOwner } from "@parley/workspace/storage/SecretOwner"
import { Secrets } from "@parley/workspace/storage/Secrets"
import { StartFault } from "@parley/workspace/storage/StartFault"
import { Effect, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Settings } from "../Settings.ts"
import { printed } from "./printed.ts"
import { workspaceFlag, workspaceNamed } from "./workspace.ts"

const listed = Command.make("list", {}, () =>
  printed(
    Effect.gen(function* () {
      return (yield* (yield* LocalInventory).list)
        .map(({ locality, phoneNumber, region, taken, trunk }) =>
          [phoneNumber, taken ? "sold" : "for sale", trunk.uri || "takes calls only", `${locality}, ${region}`].join(
            "  "
          )
        )
        .join("\n")
    })
  )
).pipe(Command.withDescription("The inventory that numbers are bought from"))

const optional = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withDefault(""))

const added = Command.make(
  "add",
  {
    number: Argument.String("number").pipe(Argument.withDescription("such as +14155550123")),
    allow: optional("allow", "addresses and blocks that may call it, separated by commas"),
    inboundAuth: optional("inbound-auth", "USER:PASSWORD of who may call it"),
    trunk: optional("trunk", "HOST or HOST:PORT its calls go to; it takes calls only when left out"),
    transport: Flag.String("transport").pipe(Flag.withDescription("auto, udp, tcp or tls"), Flag.withDefault("auto")),
    auth: optional("auth", "USER:PASSWORD at the trunk"),
    place: optional("place", "such as San Francisco, CA"),
    originalCaller: Flag.Boolean("original-caller").pipe(
      Flag.withDescription("a call it hands over may show the original caller"),
      Flag.withDefault(false)
    )
  },
  ({ number, ...options }) => printed(add(number, options))
).pipe(Command.withDescription("Put a number up for sale, or change its trunk; somebody must be able to call it"))

const removed = Command.make("remove", { number: Argument.String("number") }, ({ number }) =>
  printed(
    Effect.gen(function* () {
      if (yield* (yield* LocalInventory).remove(number)) return `removed ${number}`
      return yield* new StartFault({ message: `there is no number ${number} that is for sale` })
    })
  )
).pipe(Command.withDescription("Take back a number that is not sold"))

const dialling = Command.make(
  "dialling",
  { state: Argument.Literals("state", ["on", "off"]), workspace: workspaceFlag },
  ({ state, workspace }) =>
    printed(
      Effect.gen(function* () {
        const id = yield* workspaceNamed(workspace)
        yield* (yield* PhoneLines).allowDialling(id, state === "on")
        return `${workspace}  ${state === "on" ? "may place calls" : "may not place calls"}`
      })
    )
).pipe(Command.withDescription("Whether a workspace may place calls"))

/** `parley numbers list | add NUMBER | remove NUMBER | dialling on|off`. */
export const numbers = Command.make("numbers").pipe(
  Command.withDescription("Telephone numbers that can be bought, and who may place calls"),
  Command.withSubcommands([listed, added, removed, dialling])
)

/** Empty where it was not given. */
interface NumberOptions {
  readonly allow: string
  readonly inboundAuth: string
  readonly trunk: string
  readonly transport: string
  readonly auth: string
  readonly place: string
  readonly originalCaller: boolean
}

const add = Effect.fnUntraced(function* (phoneNumber: string, options: NumberOptions) {
  const inventory = yield* LocalInventory
  const secrets = yield* Secrets
  const { vendor } = yield* Settings
  if (!isE164(phoneNumber)) return yield* new StartFault({ message: "NUMBER must be such as +14155550123" })
  const input = inputOf(options)
  const uri = Schema.decodeUnknownResult(terminationUri)(input.termination_uri ?? "")
  if (uri._tag === "Failure") return yield* new StartFault({ message: "--trunk must be HOST or HOST:PORT" })
  const transport = Schema.decodeUnknownResult(TerminationTransport)(options.transport)
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
  const [locality = "", region = ""] = options.place.split(",").map((part) => part.trim())
  yield* inventory.put({
    phoneNumber,
    friendlyName: friendly(phoneNumber),
    locality,
    region,
    countryCode: countryOf(phoneNumber) ?? "",
    trunk: sealTrunk(
      { ...input, termination_transport: transport.success },
      undefined,
      secrets.of(secretOwner.stockedNumber(phoneNumber)).seal
    ),
    originalCaller: options.originalCaller
  })
  return `${phoneNumber}  for sale, unless it is sold`
})

const inputOf = (options: NumberOptions): TrunkInput => {
  const [inbound, termination] = [pair(options.inboundAuth), pair(options.auth)]
  return {
    inbound_auth_username: inbound.user,
    inbound_auth_password: inbound.password,
    inbound_allowed_addresses: options.allow.split(",").flatMap((entry) => entry.trim() || []),
    termination_uri: options.trunk,
    termination_auth_username: termination.user,
    termination_auth_password: termination.password
  }
}

const pair = (text: string) => {
  const at = text.indexOf(":")
  return at < 0 ? { user: text, password: "" } : { user: text.slice(0, at), password: text.slice(at + 1) }
}

/** `(415) 555-0123`; elsewhere the number itself. */
const friendly = (number: string): string =>
  number.replace(
    /^\+1(\d{3})(\d{3})(\d{4})$/,
    (_all, area: string, exchange: string, line: string) => `(${area}) ${exchange}-${line}`
  )
