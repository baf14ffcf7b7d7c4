// Kinds of settings: how each is read from its text, and the one line that is said when it cannot be. No line repeats
// the text, since it may be a key. Blank text counts as unset.
import { nanoOf } from "@parley/workspace/billing/Money"
import { type IpBlock, parseBlock } from "@parley/workspace/outbound/IpAddress"
import { Config, ConfigProvider, Effect, Redacted } from "effect"
import { isIP } from "node:net"
import { fallbackOf } from "./settingsTable.ts"

/** Fails reading with one line. */
export const wrong = (message: string) =>
  Effect.fail(new Config.ConfigError(new ConfigProvider.SourceError({ message })))

/** Trimmed; undefined when unset. */
export const text = (name: string): Config.Config<string | undefined> =>
  Config.String(name).pipe(
    Config.map((value): string | undefined => value.trim() || undefined),
    Config.withDefault(undefined)
  )

/** What the table gives when unset. */
export const textOr = (name: string): Config.Config<string> =>
  Config.map(text(name), (value) => value ?? fallbackOf(name))

/** A text that is set and read further; undefined when unset. */
const when = <A>(name: string, read: (value: string) => A | undefined, message: string): Config.Config<A | undefined> =>
  Config.mapEffect(text(name), (value) =>
    value === undefined ? Effect.succeed(undefined) : required(read(value), message)
  )

/** A text, or what the table gives for it, read further. */
export const always = <A>(name: string, read: (value: string) => A | undefined, message: string): Config.Config<A> =>
  Config.mapEffect(textOr(name), (value) => required(read(value), message))

const required = <A>(value: A | undefined, message: string) =>
  value === undefined ? wrong(message) : Effect.succeed(value)

/** A whole number from `minimum` to `maximum`, both included; the table's default when unset. */
export const whole = (name: string, minimum: number, maximum: number): Config.Config<number> =>
  always(
    name,
    (value) => {
      const number = Number(value)
      return Number.isInteger(number) && number >= minimum && number <= maximum ? number : undefined
    },
    `${name} must be a whole number from ${minimum} to ${maximum}`
  )

/** The same; undefined when unset. */
export const wholeOrUnset = (name: string, minimum: number, maximum: number): Config.Config<number | undefined> =>
  Config.flatMap(text(name), (value): Config.Config<number | undefined> =>
    value === undefined ? Config.succeed(undefined) : whole(name, minimum, maximum)
  )

/** A secret of at least `minimum` characters without white space; undefined when unset. */
export const secret = (name: string, minimum = 1): Config.Config<Redacted.Redacted<string> | undefined> =>
  Config.mapEffect(text(name), (value) => {
    if (value === undefined) return Effect.succeed(undefined)
    if (value.length < minimum) return wrong(`${name} must have at least ${minimum} characters`)
    return /\s/.test(value) ? wrong(`${name} must not contain white space`) : Effect.succeed(Redacted.make(value))
  })

/** Secrets separated by commas, each of at least `minimum` characters without white space; none when unset. */
export const secrets = (name: string, minimum: number): Config.Config<ReadonlyArray<Redacted.Redacted<string>>> =>
  listOf(
    name,
    (entry) => (entry.length >= minimum && !/\s/.test(entry) ? Redacted.make(entry) : undefined),
    `${name} must be a list of keys of at least ${minimum} characters`
  )

/** Entries separated by commas; those of the table when unset. */
export const list = (name: string): Config.Config<ReadonlyArray<string>> => Config.map(textOr(name), entriesOf)

/** A list whose every entry is read further. */
const listOf = <A>(
  name: string,
  read: (entry: string) => A | undefined,
  message: string
): Config.Config<ReadonlyArray<A>> =>
  Config.mapEffect(list(name), (entries) => Effect.forEach(entries, (entry) => required(read(entry), message)))

/** The entries of a list separated by commas, trimmed; empty ones are left out. */
export const entriesOf = (value: string): ReadonlyArray<string> =>
  value
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")

/** An address without a slash at its end. Schemes with their colon, as `https:`. */
export const url = (name: string, schemes: ReadonlyArray<string>): Config.Config<string | undefined> =>
  when(
    name,
    (value) =>
      URL.canParse(value) && schemes.includes(new URL(value).protocol) ? value.replace(/\/+$/, "") : undefined,
    `${name} must be an address that starts with ${schemes.map((scheme) => `${scheme}//`).join(" or ")}`
  )

/** An IPv4 or IPv6 address; undefined when unset. */
export const ipAddress = (name: string): Config.Config<string | undefined> =>
  when(name, (value) => (isIP(value) === 0 ? undefined : value), `${name} must be an IP address`)

/** A range of ports such as 40000-40999, both included; undefined when unset. */
export const ports = (name: string): Config.Config<readonly [min: number, max: number] | undefined> =>
  when(
    name,
    (value) => {
      const [min = 0, max = 0] = (/^(\d{1,5})-(\d{1,5})$/.exec(value)?.slice(1) ?? []).map(Number)
      return min >= 1 && max <= 65_535 && min < max ? ([min, max] as const) : undefined
    },
    `${name} must be two ports with - between them, the lower first`
  )

/** A JSON object; the table's default when unset. */
export const jsonObject = (name: string): Config.Config<Readonly<Record<string, unknown>>> =>
  always(name, objectOf, `${name} must be a JSON object`)

const objectOf = (value: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const parsed: unknown = JSON.parse(value)
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? { ...parsed } : undefined
  } catch {
    return undefined
  }
}

/** In nano-units of the currency; undefined when unset. */
export const amountOrUnlimited = (name: string): Config.Config<bigint | "unlimited" | undefined> =>
  when<bigint | "unlimited">(
    name,
    (value) => {
      if (value === "unlimited") return value
      const nano = nanoOf(value)
      return nano !== undefined && nano >= 0n ? nano : undefined
    },
    `${name} must be an amount such as 5 or 2.50, or unlimited`
  )

/** ISO 3166-1 alpha-2 codes in upper case; those of the table when unset. */
export const countries = (name: string): Config.Config<ReadonlyArray<string>> =>
  listOf(
    name,
    (entry) => (/^[A-Z]{2}$/i.test(entry) ? entry.toUpperCase() : undefined),
    `${name} must be a list of two-letter countries such as US,CA`
  )

/** IP addresses and CIDR blocks; those of the table when unset. */
export const blocks = (name: string): Config.Config<ReadonlyArray<IpBlock>> =>
  listOf(name, parseBlock, `${name} must be a list of addresses and blocks such as 10.0.0.0/8 or fd00::/8`)

/** Host names, IP addresses and CIDR blocks; those of the table when unset. */
export const hostsAndBlocks = (name: string): Config.Config<ReadonlyArray<string>> =>
  listOf(
    name,
    (entry) => (parseBlock(entry) !== undefined || /^[a-z0-9._-]+$/i.test(entry) ? entry : undefined),
    `${name} must be a list of host names and blocks such as 10.0.0.0/8 or fd00::/8`
  )
