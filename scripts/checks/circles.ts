// Circles: between files at run time, and between the folders of a room, where a type counts as much as a value.
import { dirname } from "node:path"
import type { Source } from "./sources.ts"

type Graph = ReadonlyMap<string, ReadonlySet<string>>

export const circlesOfFiles = (sources: ReadonlyArray<Source>): ReadonlyArray<string> =>
  circles(
    new Map(
      sources.map(({ imports, path }) => [
        path,
        new Set(imports.flatMap(({ erased, file }) => (file === undefined || erased ? [] : [file])))
      ])
    )
  ).map((circle) => `circle of files: ${circle.join(" -> ")}`)

/** A folder is a node; a file at the room's top is one of its own. */
export const circlesOfFolders = (sources: ReadonlyArray<Source>): ReadonlyArray<string> => {
  const graph = new Map<string, Set<string>>()
  for (const { imports, path, room } of sources) {
    const from = nodeOf(path)
    const edges = graph.get(from) ?? new Set()
    graph.set(from, edges)
    for (const { file } of imports) {
      if (file === undefined || !file.startsWith(`packages/${room}/src/`)) continue
      const to = nodeOf(file)
      if (to !== from) edges.add(to)
    }
  }
  return circles(graph).map((circle) => `circle of folders: ${circle.join(" -> ")}`)
}

const nodeOf = (path: string): string => {
  const folder = dirname(path)
  return /^packages\/[^/]+\/src$/.test(folder) ? path : folder
}

/** One circle for each strongly connected part (Tarjan), so that mending one shows the next. */
const circles = (graph: Graph): ReadonlyArray<ReadonlyArray<string>> => {
  const found: Array<ReadonlyArray<string>> = []
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: Array<string> = []
  const visit = (node: string): void => {
    index.set(node, index.size)
    low.set(node, index.get(node) ?? 0)
    stack.push(node)
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) {
        visit(next)
        low.set(node, Math.min(low.get(node) ?? 0, low.get(next) ?? 0))
      } else if (stack.includes(next)) low.set(node, Math.min(low.get(node) ?? 0, index.get(next) ?? 0))
    }
    if (low.get(node) !== index.get(node)) return
    const part = stack.splice(stack.indexOf(node))
    if (part.length > 1) found.push(within(graph, part))
  }
  for (const node of graph.keys()) if (!index.has(node)) visit(node)
  return found
}

/** The shortest way around. */
const within = (graph: Graph, part: ReadonlyArray<string>): ReadonlyArray<string> => {
  const start = part[0] ?? ""
  const ways: Array<ReadonlyArray<string>> = [[start]]
  const seen = new Set<string>()
  for (const way of ways) {
    for (const next of graph.get(way.at(-1) ?? "") ?? []) {
      if (next === start) return [...way, start]
      if (!part.includes(next) || seen.has(next)) continue
      seen.add(next)
      ways.push([...way, next])
    }
  }
  return part
}
