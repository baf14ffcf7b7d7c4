// What both commands need first: the packages, in step with the lock file. npm writes its own lock last,
// so it is missing after an install that broke off.
import { spawnSync } from "node:child_process"
import { existsSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** The Node that npm brings; the one on the machine may be older. */
export const nodeBinary = join(root, "node_modules", ".bin", "node")

export const installPackages = () => {
  const modified = (path) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const installed = modified("node_modules/.package-lock.json")
  if (existsSync(nodeBinary) && installed > 0 && installed >= modified("package-lock.json")) return
  console.log("Installing packages ...")
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
    stdio: "inherit"
  })
  if (status !== 0) process.exit(status ?? 1)
}
