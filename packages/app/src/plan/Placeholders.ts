// `{{name}}` and `{{system.name}}` in prompts and first messages. One pass: what a value holds is not read again. A
// placeholder without a value stays as it is written.
import type { DynamicVariables } from "@parley/contract/SessionRequest"

/** The values of `{{system.*}}`; numbers are E.164, `""` where there is none. */
export interface SystemVariables {
  readonly channel: "web_voice" | "phone_inbound" | "phone_outbound"
  readonly timezone: string
  /** YYYY-MM-DD in that zone when the session was made. */
  readonly today: string
  readonly language: string
  readonly caller_number: string
  readonly caller_number_spoken: string
  readonly dialed_number: string
}

/** The template with its placeholders replaced. */
export const fillIn = (template: string, custom: DynamicVariables, system: SystemVariables): string =>
  template.replace(
    /\{\{\s*(system\.)?([A-Za-z][A-Za-z0-9_]*)\s*\}\}/g,
    (whole, prefix: string | undefined, name: string) => {
      const values: Readonly<Record<string, unknown>> = prefix === undefined ? custom : { ...system }
      return Object.hasOwn(values, name) ? String(values[name]) : whole
    }
  )

/** The date in a time zone as YYYY-MM-DD. */
export const dateIn = (timezone: string, at: Date): string =>
  new Intl.DateTimeFormat("en-CA", { timeZone: timezone, year: "numeric", month: "2-digit", day: "2-digit" }).format(at)

/** Two-digit country codes (ITU-T E.164); 1 and 7 have one digit, all others three. */
const twoDigits = /^(2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])/

/** +14155550123 -> `+1; 4 1 5; 5 5 5; 0 1 2 3`; empty for anything that is no E.164 number. */
export const spokenNumber = (number: string): string => {
  if (!/^\+[1-9]\d{6,14}$/.test(number)) return ""
  const digits = number.slice(1)
  const country = /^[17]/.test(digits) ? 1 : twoDigits.test(digits) ? 2 : 3
  const groups = [`+${digits.slice(0, country)}`]
  for (let rest = digits.slice(country); rest !== "";) {
    const size = rest.length === 4 || rest.length === 8 ? 4 : 3
    groups.push(rest.slice(0, size).split("").join(" "))
    rest = rest.slice(size)
  }
  return groups.join("; ")
}
