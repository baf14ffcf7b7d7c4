// Where a number leads: the country, for lists of countries that may be called, and whether it is one that costs extra
// or is no telephone at all. By Google's tables (libphonenumber), with a rule of our own on top: see `premiumPrefixes`.
import { isE164 } from "@parley/contract/PhoneNumber"
import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  type NumberType,
  parsePhoneNumberFromString
} from "libphonenumber-js/max"

/**
 * ISO 3166-1 alpha-2 of an E.164 number; undefined for networks of no country, and for what is no number. A number in a
 * range that the tables do not know (newer, or never assigned) counts to the largest country of its calling code.
 */
export const countryOf = (number: string): string | undefined => {
  const parsed = isE164(number) ? parsePhoneNumberFromString(number) : undefined
  if (parsed === undefined || parsed.isNonGeographic()) return undefined
  return parsed.country ?? mainCountries.get(parsed.countryCallingCode)
}

/** Premium rate, shared cost, personal and service numbers, satellite and international networks. */
export const isPremium = (number: string): boolean => {
  const parsed = parsePhoneNumberFromString(number)
  if (parsed !== undefined && (parsed.isNonGeographic() || costly.has(parsed.getType()))) return true
  const digits = number.replace(/^\+/, "")
  return digits.startsWith("1")
    ? premiumInNorthAmerica.test(digits)
    : premiumPrefixes.some((prefix) => digits.startsWith(prefix))
}

const costly: ReadonlySet<NumberType> = new Set<NumberType>([
  "PREMIUM_RATE",
  "SHARED_COST",
  "PERSONAL_NUMBER",
  "PAGER",
  "UAN",
  "VOICEMAIL"
])

/** For calling codes of several countries the one that most of their numbers are of, else the only one. */
const mainCountries: ReadonlyMap<string, CountryCode> = new Map(
  [...getCountries(), ...(["US", "RU", "GB", "IT", "AU", "NO", "FI", "MA", "RE", "GP", "CW", "SH"] as const)].map(
    (country): [string, CountryCode] => [getCountryCallingCode(country), country]
  )
)

/** Areas 900, 5XX (personal), 700 and 710; in any area the exchanges 976 (pay per call) and N11 (services). */
const premiumInNorthAmerica = /^1(?:(?:900|500|5(?:22|33|44|66|77|88)|700|710)|\d{3}(?:976|[2-9]11)\d{4}$)/

/**
 * Ours, because the library classifies only numbers of a whole and assigned form, while a carrier routes by the first
 * digits: what begins like a costly number is refused whatever its length. Without the code 1.
 */
const premiumPrefixes: ReadonlyArray<string> = `4470 4484 4487 449 44118 49118 49137 49180 49190 49900 3381 3382 3389
  33118 34803 34806 34807 34901 34902 34905 39144 39166 39178 39199 39892 39894 39895 39899 41900 41901 41906 43900
  43901 43930 43931 43939 31900 31906 31909 3290 4590 46900 46939 46944 4782 4870 35160 351707 351760 35315 358600
  358700 6119 64900 81990 2786 55900 52900 7803 7809 90900`.split(/\s+/)
