// The rooms and who may import whom, as data. Fails on a forbidden import, a cycle between files,
// a forbidden folder name, or a file over its size. Run by `npm run check`.
import { readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join, normalize, relative } from "node:path"

interface Room {
  /** Rooms of ours it may import. */
  readonly ours: ReadonlyArray<string>
  /** Packages and Node modules it must never import. */
  readonly never?: RegExp
}

const nodeModules = /^node:/

const rooms: Record<string, Room> = {
  contract: { ours: [], never: /^(?!effect($|\/))/ },
  audio: { ours: [], never: /^(node:(net|dgram|http|https|timers)|effect($|\/)|ws$)/ },
  // `ws` as a client only: a socket of our own engine's making tells the status of a refused handshake.
  speech: { ours: ["contract", "audio"], never: /^(@effect\/sql|werift|effect\/(sql|http-api))/ },
  llm: { ours: ["contract"], never: /^(ws$|@effect\/sql|effect\/(sql|http-api)|node:worker_threads)/ },
  engine: {
    ours: ["contract", "audio", "speech", "llm"],
    never: /^(ws$|werift|sip\.js|@effect\/|effect\/(sql|http|http-api)|node:(http|https|net|dgram|fs|child_process))/
  },
  transport: { ours: ["contract", "audio", "engine"], never: /^(@effect\/sql|effect\/(sql|http-api|ai))/ },
  workspace: { ours: ["contract", "speech", "llm"], never: /^(ws$|werift|effect\/(http-api))/ },
  app: {
    ours: ["contract", "audio", "speech", "llm", "engine", "transport", "workspace"],
    never: /^(ws$|werift|sip\.js|@effect\/|effect\/(sql|http|http-api)|node:(http|https|net|dgram))/
  },
  server: {
    ours: ["contract", "audio", "speech", "llm", "engine", "transport", "workspace", "app"],
    never: /^(werift|sip\.js|libopus)/
  },
  client: { ours: ["contract"], never: /^(werift|@effect\/sql|ws$)/ },
  console: { ours: ["contract", "client"], never: nodeModules }
}

const forbiddenNames = /^(utils?|common|shared|helpers?|misc|manager|types|impl)(\.tsx?)?$/
const maxLines = 500

const root = dirname(import.meta.dirname)
const faults: Array<string> = []
const graph = new Map<string, Array<string>>()

const walk = (dir: string): Array<string> =>
  readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name)
    if (entry.name === "node_modules" || entry.name === "dist") return []
    if (forbiddenNames.test(entry.name)) faults.push(`${relative(root, path)}: no room or file is called ${entry.name}`)
    if (entry.isDirectory()) return walk(path)
    return /\.tsx?$/.test(entry.name) ? [path] : []
  })

/** `import type` is erased at run time: it may close a circle, though it may not cross a forbidden border. */
const imports = (text: string): Array<{ readonly from: string; readonly erased: boolean }> =>
  [
    ...text.matchAll(/^\s*(?:import|export)\s+(type\s+)?(?:[^"'`;]*?\sfrom\s+)?["']([^"']+)["']/gm),
    ...text.matchAll(/\bimport\(\s*()["']([^"']+)["']\s*\)/g)
  ].map((m) => ({ from: m[2] ?? "", erased: Boolean(m[1]?.trim()) }))

for (const [name, room] of Object.entries(rooms)) {
  const src = join(root, "packages", name, "src")
  for (const file of walk(src)) {
    const where = relative(root, file)
    const text = readFileSync(file, "utf8")
    const lines = text.split("\n").length - 1
    if (lines > maxLines) faults.push(`${where}: ${lines} lines (limit ${maxLines}): look for the second noun`)
    const edges: Array<string> = []
    for (const { erased, from } of imports(text)) {
      if (from.startsWith(".")) {
        const target = normalize(join(dirname(file), from))
        if (!target.startsWith(src)) faults.push(`${where}: imports ${from}, outside its room`)
        else if (!statSync(target, { throwIfNoEntry: false })?.isFile()) faults.push(`${where}: no file ${from}`)
        else if (!erased) edges.push(target)
      } else if (from.startsWith("@parley/")) {
        const other = from.split("/")[1] ?? ""
        if (!room.ours.includes(other)) faults.push(`${where}: ${name} may not import ${other}`)
      } else if (room.never?.test(from)) {
        faults.push(`${where}: ${name} must not import ${from}`)
      }
    }
    graph.set(file, edges)
  }
}

const state = new Map<string, "open" | "done">()
const visit = (file: string, path: ReadonlyArray<string>): void => {
  if (state.get(file) === "done") return
  if (state.get(file) === "open") {
    const cycle = [...path.slice(path.indexOf(file)), file].map((f) => relative(root, f)).join(" -> ")
    faults.push(`cycle: ${cycle}`)
    return
  }
  state.set(file, "open")
  for (const next of graph.get(file) ?? []) visit(next, [...path, file])
  state.set(file, "done")
}
for (const file of graph.keys()) visit(file, [])

if (faults.length > 0) {
  console.error(faults.join("\n"))
  process.exit(1)
}
const sizes = [...graph.keys()].map((f) => readFileSync(f, "utf8").split("\n").length).sort((a, b) => a - b)
console.log(`rooms: ${graph.size} files, median ${sizes[sizes.length >> 1] ?? 0} lines, no forbidden import, no cycle`)
