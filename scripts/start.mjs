// `npm start` on a fresh machine: installs what is missing, builds the console when its sources changed, starts the
// service and watches it. Runs on the Node that is there (20 or later); the service runs on the one npm brings.
import { spawnSync } from "node:child_process"
import { installPackages, nodeBinary, root } from "./install.mjs"
import { installSherpa, sherpaIsAsked } from "./sherpa.mjs"
import { startService } from "./supervise.mjs"
import { installSystemParts, pocketSphinx } from "./systemParts.mjs"

installPackages()
if (sherpaIsAsked(process.env)) installSherpa()
const { PARLEY_ASR, PARLEY_ASR_BASE_URL, PARLEY_ASR_MODEL_FOLDER } = process.env
if (PARLEY_ASR?.includes("pocketsphinx") || !(PARLEY_ASR || PARLEY_ASR_BASE_URL || PARLEY_ASR_MODEL_FOLDER)) {
  const command = installSystemParts(pocketSphinx, { again: false })
  if (command !== "") console.log(`Without PocketSphinx the agents cannot hear, only read. On Debian: ${command}`)
}

// Does nothing when the build is newer than its sources.
const { status } = spawnSync(nodeBinary, ["scripts/build-console.ts"], { cwd: root, stdio: "inherit" })
if (status !== 0) console.error("The console could not be built; the service starts without it.")

startService({ args: ["packages/server/src/main.ts"], cwd: root, nodeBinary })
