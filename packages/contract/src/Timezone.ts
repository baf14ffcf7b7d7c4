// IANA time zone names, of at most 64 characters, and the order in which a session's zone is found. Offsets such as
// "+01:00" are no names, though the platform would take them.
import { Schema } from "effect"
import { text } from "./Field.ts"
import { isTimezone } from "./timezoneNames.ts"

/** A known zone name. */
export const Timezone = text(64).check(
  Schema.makeFilter((name: string) => isTimezone(name) || "must be an IANA time zone name")
)

/** A known zone name, or empty for none. */
export const TimezoneOrEmpty = text(64).check(
  Schema.makeFilter((name: string) => name === "" || isTimezone(name) || "must be an IANA time zone name")
)

/** Request, then agent, then the device's hint (ignored when unknown), then the caller's country, then UTC. */
export const resolveTimezone = (zones: {
  readonly request: string | undefined
  readonly agent: string
  readonly client: string | undefined
  /** The number a telephone call comes from. */
  readonly caller?: string | undefined
}): string => {
  if (zones.request) return zones.request
  if (zones.agent !== "" && isTimezone(zones.agent)) return zones.agent
  if (zones.client !== undefined && isTimezone(zones.client)) return zones.client
  return zoneOfNumber(zones.caller ?? "") ?? "UTC"
}

/**
 * Ours, because no library we have knows zones by calling code. Countries that have one zone, by calling code (ITU-T E.164; IANA zone.tab). No code is the
 * beginning of another.
 */
const singleZones: ReadonlyArray<readonly [code: string, zone: string]> = [
  ["20", "Africa/Cairo"],
  ["27", "Africa/Johannesburg"],
  ["211", "Africa/Juba"],
  ["212", "Africa/Casablanca"],
  ["213", "Africa/Algiers"],
  ["216", "Africa/Tunis"],
  ["233", "Africa/Accra"],
  ["234", "Africa/Lagos"],
  ["251", "Africa/Addis_Ababa"],
  ["254", "Africa/Nairobi"],
  ["30", "Europe/Athens"],
  ["31", "Europe/Amsterdam"],
  ["32", "Europe/Brussels"],
  ["33", "Europe/Paris"],
  ["352", "Europe/Luxembourg"],
  ["353", "Europe/Dublin"],
  ["354", "Atlantic/Reykjavik"],
  ["355", "Europe/Tirane"],
  ["356", "Europe/Malta"],
  ["358", "Europe/Helsinki"],
  ["359", "Europe/Sofia"],
  ["36", "Europe/Budapest"],
  ["370", "Europe/Vilnius"],
  ["371", "Europe/Riga"],
  ["372", "Europe/Tallinn"],
  ["381", "Europe/Belgrade"],
  ["385", "Europe/Zagreb"],
  ["386", "Europe/Ljubljana"],
  ["39", "Europe/Rome"],
  ["40", "Europe/Bucharest"],
  ["41", "Europe/Zurich"],
  ["420", "Europe/Prague"],
  ["421", "Europe/Bratislava"],
  ["43", "Europe/Vienna"],
  ["44", "Europe/London"],
  ["45", "Europe/Copenhagen"],
  ["46", "Europe/Stockholm"],
  ["48", "Europe/Warsaw"],
  ["49", "Europe/Berlin"],
  ["51", "America/Lima"],
  ["57", "America/Bogota"],
  ["58", "America/Caracas"],
  ["591", "America/La_Paz"],
  ["595", "America/Asuncion"],
  ["598", "America/Montevideo"],
  ["502", "America/Guatemala"],
  ["506", "America/Costa_Rica"],
  ["507", "America/Panama"],
  ["63", "Asia/Manila"],
  ["65", "Asia/Singapore"],
  ["66", "Asia/Bangkok"],
  ["81", "Asia/Tokyo"],
  ["82", "Asia/Seoul"],
  ["84", "Asia/Ho_Chi_Minh"],
  ["852", "Asia/Hong_Kong"],
  ["886", "Asia/Taipei"],
  ["90", "Europe/Istanbul"],
  ["91", "Asia/Kolkata"],
  ["92", "Asia/Karachi"],
  ["94", "Asia/Colombo"],
  ["880", "Asia/Dhaka"],
  ["961", "Asia/Beirut"],
  ["962", "Asia/Amman"],
  ["965", "Asia/Kuwait"],
  ["966", "Asia/Riyadh"],
  ["971", "Asia/Dubai"],
  ["972", "Asia/Jerusalem"],
  ["974", "Asia/Qatar"],
  ["977", "Asia/Kathmandu"]
]

const zoneOfNumber = (number: string): string | undefined =>
  /^\+[1-9]\d{6,14}$/.test(number) ? singleZones.find(([code]) => number.startsWith(code, 1))?.[1] : undefined
