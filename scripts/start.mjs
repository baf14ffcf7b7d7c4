// `npm start` on a fresh machine: installs what is missing, builds the console when its sources changed, starts the
// service. Runs on the Node that is there (20 or later); the service runs on the one npm brings.
// Signals are passed on, the exit code comes back.
import { spawn, spawnSync } from "node:child_process"
import { existsSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const node = join(root, "node_modules", ".bin", "node")

const modified = (path) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0

const run = (command, args) => {
  const { status, signal } = spawnSync(command, args, { cwd: root, stdio: "inherit" })
  if (status !== 0) process.exit(status ?? (signal === "SIGINT" ? 130 : 1))
}

// npm writes this file last, so it is missing after an install that broke off.
const installed = modified("node_modules/.package-lock.json")
if (!existsSync(node) || installed === 0 || installed < modified("package-lock.json")) {
  console.log("Installing packages ...")
  run("npm", [existsSync(join(root, "package-lock.json")) ? "ci" : "install", "--no-audit", "--no-fund"])
}

// Does nothing when the build is newer than its sources.
const { status } = spawnSync(node, ["scripts/build-console.ts"], { cwd: root, stdio: "inherit" })
if (status !== 0) console.error("The console could not be built; the service starts without it.")

const child = spawn(node, ["packages/server/src/main.ts"], {
  cwd: root,
  // The channel tells the service when this process is gone.
  stdio: ["inherit", "inherit", "inherit", "ipc"],
  env: { NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "node-compile"), ...process.env }
})
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal === "SIGHUP" ? "SIGTERM" : signal))
}
child.on("error", (error) => {
  console.error(`parley: cannot start the service: ${error.message}`)
  process.exit(1)
})
child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 1)))
