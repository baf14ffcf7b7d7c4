// The fingerprint of a configuration: `sha256:` and the hex digest of its canonical JSON (keys sorted, RFC 8785 in
// spirit), so that equal content has an equal hash however it was stored.
import { createHash } from "node:crypto"

export const configHash = (config: unknown): string =>
  `sha256:${createHash("sha256").update(canonical(config)).digest("hex")}`

export const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  const entries = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(",")}}`
}
