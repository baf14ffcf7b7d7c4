// IANA time zone names (spec: timezone, at most 64 characters) and the order in which a session's zone is found
// (decisions 7). Offsets such as "+01:00" are no names, though the platform would take them.
import { Schema } from "effect"
import { text } from "./Field.ts"

export const isTimezone = (name: string): boolean => {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(name)) return false
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== ""
  } catch {
    return false
  }
}

/** A known zone name. */
export const Timezone = text(64).check(
  Schema.makeFilter((name: string) => isTimezone(name) || "must be an IANA time zone name")
)

/** A known zone name, or empty for none. */
export const TimezoneOrEmpty = text(64).check(
  Schema.makeFilter((name: string) => name === "" || isTimezone(name) || "must be an IANA time zone name")
)

/** Request, then agent, then the device's hint (ignored when unknown), then UTC. */
export const resolveTimezone = (zones: {
  readonly request: string | undefined
  readonly agent: string
  readonly client: string | undefined
}): string => {
  if (zones.request) return zones.request
  if (zones.agent !== "" && isTimezone(zones.agent)) return zones.agent
  return zones.client !== undefined && isTimezone(zones.client) ? zones.client : "UTC"
}
