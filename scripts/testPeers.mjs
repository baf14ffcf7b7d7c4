// Official clients of the APIs that the service speaks, for the tests alone, and what the benches compare with: in
// folders of their own, so that they weigh on nobody who only runs the service. Their install scripts do not run: one of
// them calls home.
import { spawnSync } from "node:child_process"
import { existsSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { root } from "./install.mjs"

/** Does nothing when they are there as the lock file says. Returns whether they are. */
export const installTestPeers = () =>
  install(
    join(root, "packages", "server", "test", "peers"),
    "the official SDKs that the tests speak through",
    "tests through them will be skipped"
  )

export const installBenchPeers = () =>
  install(join(root, "bench", "peers"), "what the benches compare with", "this question cannot be asked")

const install = (folder, what, otherwise) => {
  const modified = (path) => statSync(join(folder, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const done = join("node_modules", ".package-lock.json")
  if (modified(done) > 0 && modified(done) >= modified("package-lock.json")) return true
  console.log(`Installing ${what} ...`)
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
  const { status } = spawnSync("npm", args, { cwd: folder, stdio: "inherit" })
  if (status === 0) return true
  // What broke off halfway must not count as installed.
  if (existsSync(join(folder, done))) rmSync(join(folder, done))
  console.log(`They could not be installed (is the package registry reachable?): ${otherwise}.`)
  return false
}
