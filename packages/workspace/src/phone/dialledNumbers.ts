// Numbers as carriers and people write them.

/**
 * What an E.164 number may look like on its way in, best guess first: with a plus, with 00 or 011 before it, bare, or a
 * North American one without its country. Parameters and visual separators are left out; empty for what has no digits.
 */
export const dialledNumbers = (raw: string): ReadonlyArray<string> => {
  const bare = (raw.split(/[;?@]/, 1)[0] ?? "").replace(/^(?:tel|sips?):/i, "").replace(/[\s().-]/g, "")
  const digits = /^\+?(\d{3,20})$/.exec(bare)?.[1]
  if (digits === undefined) return []
  if (bare.startsWith("+")) return [`+${digits}`]
  const candidates = [`+${digits}`]
  if (digits.startsWith("00")) candidates.unshift(`+${digits.slice(2)}`)
  if (digits.startsWith("011")) candidates.unshift(`+${digits.slice(3)}`)
  if (/^[2-9]\d{9}$/.test(digits)) candidates.push(`+1${digits}`)
  return candidates
}
