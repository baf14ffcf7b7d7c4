// JSON that is equal for equal content: keys sorted (in the spirit of RFC 8785), nothing that is undefined.
/** JSON with sorted keys; what is undefined is left out. */
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
