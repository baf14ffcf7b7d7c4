// The rooms and who may import whom, as data. Fails on a forbidden import, a circle between files or folders, a
// forbidden name, a file or a function over its size, an export that nobody imports, and too few docstrings. Run by
// `npm run check`; `--report` tells the shares of docstrings room by room.
import { statSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { circlesOfFiles, circlesOfFolders } from "./checks/circles.ts"
import { documentedShares, unusedExports } from "./checks/exports.ts"
import { sizeFaults } from "./checks/sizes.ts"
import { filesBelow, readSource, type Source } from "./checks/sources.ts"

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
/** Of exported functions, classes and interfaces. */
const leastDocumented = 0.8

const root = dirname(import.meta.dirname)

const importFaults = ({ imports, path, room: name }: Source, room: Room): ReadonlyArray<string> =>
  imports.flatMap(({ file, from }) => {
    if (from.startsWith(".")) {
      if (file === undefined || !file.startsWith(`packages/${name}/src/`)) {
        return [`${path}: imports ${from}, outside its room`]
      }
      return isFile(file) ? [] : [`${path}: no file ${from}`]
    }
    if (from.startsWith("@parley/")) {
      const other = from.split("/")[1] ?? ""
      if (other !== name && !room.ours.includes(other)) return [`${path}: ${name} may not import ${other}`]
      return file === undefined || isFile(file) ? [] : [`${path}: no file ${from}`]
    }
    return room.never?.test(from) === true ? [`${path}: ${name} must not import ${from}`] : []
  })

const isFile = (file: string): boolean => statSync(join(root, file), { throwIfNoEntry: false })?.isFile() === true

const nameFaults = ({ path }: Source): ReadonlyArray<string> =>
  path
    .split("/")
    .filter((part) => forbiddenNames.test(part))
    .map((part) => `${path}: no room or file is called ${basename(part)}`)

const sources = Object.keys(rooms).flatMap((room) =>
  filesBelow(root, `packages/${room}/src`).map((path) => readSource(root, path))
)
const others = [
  ...["bench", "examples", "scripts"].flatMap((folder) => filesBelow(root, folder)),
  ...filesBelow(root, "packages/speech/optional")
].map((path) => readSource(root, path))

const shares = documentedShares(sources)
const documented = shares.reduce((sum, share) => sum + share.documented, 0)
const wanted = shares.reduce((sum, share) => sum + share.wanted, 0)
const percent = (part: number, whole: number): string => `${Math.round((part * 100) / whole)} %`

const faults = [
  ...sources.flatMap((source) => importFaults(source, rooms[source.room] ?? { ours: [] })),
  ...sources.flatMap(nameFaults),
  ...circlesOfFiles(sources),
  ...circlesOfFolders(sources),
  ...sizeFaults([...sources, ...others]),
  ...unusedExports(sources, others),
  ...(documented < leastDocumented * wanted
    ? [`${percent(documented, wanted)} of the exports have a docstring (at least ${leastDocumented * 100} %)`]
    : [])
]
if (process.argv.includes("--report")) {
  for (const share of shares) console.log(`${share.room}: ${percent(share.documented, share.wanted)} documented`)
}
if (faults.length > 0) {
  console.error(faults.join("\n"))
  process.exit(1)
}
const lengths = sources.map(({ lines }) => lines).sort((a, b) => a - b)
console.log(
  `rooms: ${sources.length} files, median ${lengths[lengths.length >> 1] ?? 0} lines, no forbidden import, no circle, ` +
    `${percent(documented, wanted)} of the exports documented`
)
