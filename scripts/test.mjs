// `npm test`: installs what the tests need, then runs them all. A test whose part of the system is missing is
// reported as skipped by name; with CI=true a skip is a failure. Arguments go to vitest.
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { installPackages, nodeBinary, root } from "./install.mjs"
import { installSherpa } from "./sherpa.mjs"
import { chromium, ffmpeg, installSystemParts, pocketSphinx, telephones } from "./systemParts.mjs"
import { installTestPeers } from "./testPeers.mjs"

installPackages()
installTestPeers()
installSherpa()
const command = installSystemParts([...chromium, ...ffmpeg, ...pocketSphinx, ...telephones], { again: true })
if (command !== "") console.log(`Some tests need parts of the system and will be skipped. On Debian: ${command}`)

const cache = join(root, "node_modules", ".cache")
const results = join(cache, "test-results.json")
mkdirSync(cache, { recursive: true })
const vitest = join(root, "node_modules", "vitest", "vitest.mjs")
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${results}`]
const { status } = spawnSync(nodeBinary, [vitest, "run", ...reporters, ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, PATH: `${join(root, "node_modules", ".bin")}${delimiter}${process.env["PATH"] ?? ""}` }
})
if (status !== 0) process.exit(status ?? 1)

const skipped = JSON.parse(readFileSync(results, "utf8"))
  .testResults.flatMap((file) => file.assertionResults)
  .filter((test) => test.status !== "passed")
for (const test of skipped) console.log(`skipped: ${test.fullName}`)
process.exit(skipped.length > 0 && process.env["CI"] === "true" ? 1 : 0)
