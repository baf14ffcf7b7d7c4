// Builds the console into packages/console/dist, where the service serves it from. Does nothing when the
// build is newer than every source. No network, no CDN: everything is in the bundle.
import { build } from "esbuild"
import { cpSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

const root = dirname(import.meta.dirname)
const consoleRoom = join(root, "packages", "console")
const out = join(consoleRoom, "dist")
const sources = ["console/src", "console/style", "console/public", "client/src", "contract/src"].map((room) =>
  join(root, "packages", room)
)

const newest = (path: string): number =>
  statSync(path).isDirectory()
    ? Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))))
    : statSync(path).mtimeMs

const stamp = join(out, ".built")
const built = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0
const changed = Math.max(...sources.map(newest), statSync(join(root, "package-lock.json")).mtimeMs)

if (built < changed) {
  mkdirSync(out, { recursive: true })
  await build({
    entryPoints: [join(consoleRoom, "src", "main.tsx")],
    outfile: join(out, "console.js"),
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "linked",
    logLevel: "warning"
  })
  await build({
    entryPoints: [join(consoleRoom, "style", "console.css")],
    outfile: join(out, "console.css"),
    bundle: true,
    minify: true,
    logLevel: "warning"
  })
  cpSync(join(consoleRoom, "public"), out, { recursive: true })
  writeFileSync(stamp, "")
}
