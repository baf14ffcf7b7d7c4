// Parts of the system that npm cannot bring, and the Debian packages that do. Installed when we are root on
// Debian; elsewhere the command is named. Plain JavaScript for the Node that is there.
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./install.mjs"

const library = (name) => (spawnSync("ldconfig", ["-p"]).stdout ?? "").includes(name)

export const chromium = [{ package: "chromium", there: () => existsSync("/usr/bin/chromium") }]

export const pocketSphinx = [
  { package: "pocketsphinx-en-us", there: () => existsSync("/usr/share/pocketsphinx/model/en-us/en-us/mdef") },
  { package: "libpocketsphinx3", there: () => library("libpocketsphinx.so.3") },
  { package: "libsphinxbase3", there: () => library("libsphinxbase.so.3") }
]

/** Measures what our encoders write, makes what our decoders read, and reads AAC. */
export const ffmpeg = [
  { package: "ffmpeg", there: () => spawnSync("ffmpeg", ["-version"], { stdio: "ignore" }).status === 0 }
]

/** Telephones that call our SIP server and are called by it. */
export const telephones = [
  { package: "sip-tester", there: () => spawnSync("sipp", ["-v"], { stdio: "ignore" }).error === undefined },
  { package: "baresip-core", there: () => spawnSync("baresip", ["-h"], { stdio: "ignore" }).error === undefined }
]

/** Tried and failed before: not again, until the packages are installed anew. */
const triedFile = (names) => join(root, "node_modules", ".cache", `tried-${names.join("-")}`)

/** Returns the command that a person would have to give for what is still missing; empty when nothing is. */
export const installSystemParts = (parts, { again }) => {
  const missing = parts.filter((part) => !part.there()).map((part) => part.package)
  if (missing.length === 0) return ""
  const install = ["apt-get", "install", "-y", "--no-install-recommends", ...missing]
  const tried = triedFile(missing)
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get") && (again || !existsSync(tried))) {
    console.log(`Installing ${missing.join(", ")} ...`)
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
    const run = ([command, ...args]) => spawnSync(command, args, { env, stdio: ["ignore", "ignore", "ignore"] }).status
    run(["apt-get", "update", "-qq"])
    if (run([...install, "-qq"]) === 0) return ""
    mkdirSync(join(root, "node_modules", ".cache"), { recursive: true })
    writeFileSync(tried, "")
  }
  return `sudo ${install.join(" ")}`
}
