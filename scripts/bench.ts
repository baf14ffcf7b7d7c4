// `npm run bench [-- name ...]`: runs the questions of bench/ one after another, each in a process of its
// own, prints their tables and keeps the raw rows in bench/results/<name>.json.
import { spawnSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { join } from "node:path"

const folder = join(import.meta.dirname, "..", "bench")
const wanted = process.argv.slice(2)
const questions = readdirSync(folder)
  .filter((file) => file.endsWith(".bench.ts"))
  .map((file) => file.replace(".bench.ts", ""))
  .filter((name) => wanted.length === 0 || wanted.includes(name))

if (questions.length === 0) {
  console.error(`no such question: ${wanted.join(" ")}`)
  process.exit(2)
}
let failed = 0
for (const name of questions) {
  console.log(`\n# ${name}`)
  const run = spawnSync(process.execPath, ["--expose-gc", join(folder, `${name}.bench.ts`)], { stdio: "inherit" })
  if (run.status !== 0) failed++
}
process.exit(failed === 0 ? 0 : 1)
