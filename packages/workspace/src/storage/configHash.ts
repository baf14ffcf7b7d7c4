// The fingerprint of a configuration: `sha256:` and the hex digest of its canonical JSON (keys sorted, RFC 8785 in
// spirit), so that equal content has an equal hash however it was stored.
import { createHash } from "node:crypto"

export const configHash = (config: unknown): string =>
  `sha256:${createHash("sha256").update(canonical(config)).digest("hex")}`

export const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  const fields = value as Readonly<Record<string, unknown>>
  let text = ""
  for (const key of Object.keys(fields).sort()) {
    const inner = fields[key]
    if (inner !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${canonical(inner)}`
  }
  return `{${text}}`
}
