// Amounts of money as whole nano-units of the account's one currency (1 unit = 10^9): sums are exact, and nothing
// is ever a float.

/** An amount of money in nano-units. */
export type Nano = bigint

/** One unit of the account's currency. */
export const unit: Nano = 1_000_000_000n

/** `"1.5"` and the like: up to nine decimals, at most nine digits before them, which PostgreSQL holds. Undefined for anything else. */
export const nanoOf = (decimal: string): Nano | undefined => {
  const [, sign, whole, fraction = ""] = /^(-?)(\d{1,9})(?:\.(\d{1,9}))?$/.exec(decimal) ?? []
  if (whole === undefined) return undefined
  const nano = BigInt(whole) * unit + BigInt(fraction.padEnd(9, "0"))
  return sign === "-" ? -nano : nano
}

/** As few decimals as it takes. */
export const decimalOf = (nano: Nano): string => {
  const size = nano < 0n ? -nano : nano
  const fraction = String(size % unit)
    .padStart(9, "0")
    .replace(/0+$/, "")
  return `${nano < 0n ? "-" : ""}${size / unit}${fraction === "" ? "" : `.${fraction}`}`
}
