// Names of functions as models take them, made from the names that people gave. Pure.
import { reservedNames } from "@parley/contract/Tool"
import type { RunnableTool } from "@parley/workspace/tools/ToolRow"

/** A client tool's name is its function's; others give way to it and to each other. */
export const functionNames = (tools: ReadonlyArray<RunnableTool>) => {
  const taken = new Set(reservedNames)
  for (const { definition } of tools) if (definition.tool_type === "client") taken.add(definition.name)
  const names = tools.map(({ definition }) =>
    definition.tool_type === "client" ? definition.name : freeName(functionName(definition.name), taken)
  )
  return { names, taken }
}

/** The name, or the name with a number that is not taken; taken from now on. */
export const freeName = (base: string, taken: Set<string>): string => {
  let name = base.slice(0, 64)
  for (let n = 2; taken.has(name); n++) name = `${base.slice(0, 60)}_${n}`
  taken.add(name)
  return name
}

/** `Book a table!` -> `book_a_table`; at most 64 of the characters every model takes, no leading underscore. */
export const functionName = (name: string): string =>
  name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "_")
    .replace(/^[_-]+/, "")
    .slice(0, 64)
    .replace(/[_-]+$/, "") || "tool"
