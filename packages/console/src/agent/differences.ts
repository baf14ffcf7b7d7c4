// How a draft differs from what is live, section by section, as text: short values are shown, long ones only named.
import type { ReturnedSections } from "@parley/contract/AgentConfig/AgentConfig"
import { formatName } from "../format.ts"

/** The changes of one section, each as a line of text. */
export interface Difference {
  readonly section: string
  readonly changes: ReadonlyArray<string>
}

/** The sections that differ, in the order of the editor; empty when none does. */
export const differences = (live: ReturnedSections, draft: ReturnedSections): ReadonlyArray<Difference> =>
  sections.flatMap(([name, section]) => {
    const changes = changesOf(live[name], draft[name])
    return changes.length === 0 ? [] : [{ section, changes }]
  })

const sections: ReadonlyArray<readonly [keyof ReturnedSections, string]> = [
  ["prompt", "Prompt"],
  ["voice", "Voice"],
  ["asr", "Speech recognition"],
  ["conversation", "Conversation"],
  ["llm", "Model"],
  ["tools", "Tools"],
  ["knowledge_base", "Knowledge"],
  ["analysis", "Analysis"],
  ["webhooks", "Webhooks"],
  ["guardrails", "Guardrails"]
]

/** An absent key counts as an empty one. */
const changesOf = (live: object, draft: object, within = ""): ReadonlyArray<string> => {
  const before = new Map<string, unknown>(Object.entries(live))
  const after = new Map<string, unknown>(Object.entries(draft))
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const name = `${within}${formatName(key)}`
    const [was, is] = [before.get(key), after.get(key)]
    if (same(was, is)) return []
    if (isList(was ?? []) && isList(is ?? [])) return [`${name}: ${listChange(was, is)}`]
    if (isRecord(was) && isRecord(is)) return changesOf(was, is, `${name}, `)
    if (isRecord(is)) return [`${name}: added`]
    if (isRecord(was)) return [`${name}: removed`]
    const [from, to] = [short(was), short(is)]
    return [from === undefined || to === undefined ? `${name}: text changed` : `${name}: ${from} → ${to}`]
  })
}

const listChange = (was: unknown, is: unknown): string => {
  const [before, after] = [was, is].map((list) => (isList(list) ? list.map((one) => JSON.stringify(one)) : []))
  const added = (after ?? []).filter((one) => !before?.includes(one)).length
  const removed = (before ?? []).filter((one) => !after?.includes(one)).length
  const words = [...(added > 0 ? [`${added} added`] : []), ...(removed > 0 ? [`${removed} removed`] : [])]
  return words.length === 0 ? "reordered" : words.join(", ")
}

/** Undefined for what is too long to read in a line. */
const short = (value: unknown): string | undefined => {
  if (value === null || value === undefined || value === "") return "none"
  if (value === true) return "on"
  if (value === false) return "off"
  const text = String(value)
  return text.length <= 60 && !text.includes("\n") ? text : undefined
}

const same = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b)

/** Keys in one order. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    isRecord(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part
  ) ?? "[]"

const isList = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value)

const isRecord = (value: unknown): value is object => typeof value === "object" && value !== null && !isList(value)
