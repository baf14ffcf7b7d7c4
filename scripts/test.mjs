// `npm test`: installs what the tests need, then runs them all. System parts come from Debian's packages
// when we are root there; elsewhere the command is named and their tests are reported as skipped by name.
// With CI=true a skip is a failure. Arguments go to vitest. Plain JavaScript for the Node that is there.
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { delimiter, join } from "node:path"
import { installPackages, nodeBinary, root } from "./install.mjs"

/** What must be on the machine, and the Debian package that brings it. */
const systemParts = [
  { package: "chromium", there: () => existsSync("/usr/bin/chromium") },
  { package: "pocketsphinx-en-us", there: () => existsSync("/usr/share/pocketsphinx/model/en-us/en-us/mdef") },
  { package: "libpocketsphinx3", there: () => library("libpocketsphinx.so.3") },
  { package: "libsphinxbase3", there: () => library("libsphinxbase.so.3") }
]

const library = (name) => (spawnSync("ldconfig", ["-p"]).stdout ?? "").includes(name)

const installSystemParts = () => {
  const missing = systemParts.filter((part) => !part.there()).map((part) => part.package)
  if (missing.length === 0) return
  const install = ["apt-get", "install", "-y", "--no-install-recommends", ...missing]
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    console.log(`Some tests need parts of the system and will be skipped. On Debian: sudo ${install.join(" ")}`)
    return
  }
  console.log(`Installing ${missing.join(", ")} ...`)
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
  const run = (args) => spawnSync(args[0], args.slice(1), { env, stdio: ["ignore", "ignore", "inherit"] }).status
  run(["apt-get", "update", "-qq"])
  if (run([...install, "-qq"]) !== 0) console.log("That did not work: the tests that need them will be skipped.")
}

installPackages()
installSystemParts()
const bin = join(root, "node_modules", ".bin")
const vitest = join(root, "node_modules", "vitest", "vitest.mjs")
const result = spawnSync(nodeBinary, [vitest, "run", ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}` }
})
process.exit(result.status ?? 1)
