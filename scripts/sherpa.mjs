// The runtime for models of one's own: in a folder of its own, because its library has GPL code in it and nobody gets
// that unasked. Installed when the settings name a model folder, and for the tests.
import { spawnSync } from "node:child_process"
import { existsSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { root } from "./install.mjs"

const folder = join(root, "packages", "speech", "optional", "sherpa")

export const sherpaIsAsked = ({ PARLEY_ASR, PARLEY_ASR_MODEL_FOLDER, PARLEY_TTS, PARLEY_TTS_MODEL_FOLDER }) =>
  Boolean(PARLEY_TTS_MODEL_FOLDER || PARLEY_ASR_MODEL_FOLDER || `${PARLEY_TTS},${PARLEY_ASR}`.includes("sherpa"))

/** Does nothing when it is there as the lock file says. */
export const installSherpa = () => {
  const modified = (path) => statSync(join(folder, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const done = join("node_modules", ".package-lock.json")
  if (modified(done) > 0 && modified(done) >= modified("package-lock.json")) return
  console.log("Installing sherpa-onnx (Apache-2.0, with espeak-ng, GPL-3.0, compiled into it) ...")
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
  const { status } = spawnSync("npm", args, { cwd: folder, stdio: "inherit" })
  if (status === 0) return
  // What broke off halfway must not count as installed.
  if (existsSync(join(folder, done))) rmSync(join(folder, done))
  console.log("It could not be installed (is the package registry reachable?): models of one's own will not serve.")
}
