// The variables the service knows of a session, written `{{system.name}}`.
/** Their names, without `system.`. */
export const systemNames = [
  "channel",
  "timezone",
  "today",
  "language",
  "caller_number",
  "caller_number_spoken",
  "dialed_number"
] as const
/** One of them. */
export type SystemName = (typeof systemNames)[number]

/** Every `{{system.name}}` of a text that names no variable. */
export const unknownSystemNames = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/\{\{\s*system\.([^{}\s]*)\s*\}\}/g)]
    .map((match) => match[1] ?? "")
    .filter((name) => !(systemNames as ReadonlyArray<string>).includes(name))
