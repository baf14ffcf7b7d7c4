import { assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const supervise = pathToFileURL(fileURLToPath(new URL("../../../scripts/supervise.mjs", import.meta.url))).href

/** Runs a program under supervision; each start of it appends a line to a file. */
const supervised = async (program: string) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-supervise-"))
  const starts = join(folder, "starts")
  writeFileSync(starts, "")
  writeFileSync(
    join(folder, "program.mjs"),
    `import { appendFileSync, readFileSync } from "node:fs"
     const file = ${JSON.stringify(starts)}
     appendFileSync(file, "x")
     const count = readFileSync(file, "utf8").length
     ${program}`
  )
  const options = JSON.stringify({ args: [join(folder, "program.mjs")], cwd: folder, nodeBinary: process.execPath })
  const code = `import(${JSON.stringify(supervise)}).then(({ startService }) => startService(${options}))`
  const child = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "ignore", "pipe"] })
  const count = () => readFileSync(starts, "utf8").length
  const exit = once(child, "exit") as Promise<[number | null, string | null]>
  return { child, count, exit, gone: () => rmSync(folder, { recursive: true, force: true }) }
}

describe("supervise", () => {
  it("starts a service again that crashed or asks for it, and passes a plain exit code on", async () => {
    const run = await supervised(`
      if (count === 1) process.exit(75)
      if (count === 2) process.kill(process.pid, "SIGSEGV")
      process.exit(3)`)
    assert.deepStrictEqual(await run.exit, [3, null])
    assert.strictEqual(run.count(), 3)
    run.gone()
  })

  it("does not start it again after a wrong setting, nor after a signal to stop", async () => {
    const wrong = await supervised("process.exit(1)")
    assert.deepStrictEqual(await wrong.exit, [1, null])
    assert.strictEqual(wrong.count(), 1)
    wrong.gone()

    const stopped = await supervised(`
      process.on("SIGTERM", () => process.exit(75))
      appendFileSync(file, "x")
      setInterval(() => {}, 1000)`)
    while (stopped.count() < 2) await new Promise((later) => setTimeout(later, 20))
    stopped.child.kill("SIGTERM")
    assert.deepStrictEqual(await stopped.exit, [75, null])
    assert.strictEqual(stopped.count(), 2)
    stopped.gone()
  })
})
