// Faults that a library throws from its own timer, in the running service: a module loaded beside it throws as told.
import { startService } from "../../src/testing/RunningService.ts"
import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const folder = mkdtempSync(join(tmpdir(), "parley-guard-"))
const faulty = join(folder, "faulty.mjs")
writeFileSync(
  faulty,
  `process.on("SIGUSR2", () => {
     setTimeout(() => undefined.log("a number: +15550100"), 1)
     setTimeout(() => { throw new Error("customer https://a.example") }, 2)
     Promise.reject(new RangeError("nobody handles this"))
   })`
)

describe("A fault that nobody caught", () => {
  it("is logged and counted, and does not end the service until there are too many", async () => {
    const service = await startService({ NODE_OPTIONS: `--import ${faulty}`, PARLEY_LOG_LEVEL: "info" })
    try {
      service.process.kill("SIGUSR2")
      const metrics = () => fetch(`${service.url}/metrics`).then((answer) => answer.text())
      const counted = () => metrics().then((text) => /uncaught_faults_total\S* (\d+)/.exec(text)?.[1])
      while ((await counted()) !== "3") await new Promise((later) => setTimeout(later, 50))
      assert.include(service.log(), "Cannot read properties of undefined (reading 'log')")
      assert.include(service.log(), "faulty.mjs:2")
      assert.notInclude(service.log(), "a.example")
      assert.strictEqual((await fetch(`${service.url}/health`)).status, 200)

      service.process.kill("SIGUSR2")
      const [code] = (await once(service.process, "exit")) as [number]
      assert.strictEqual(code, 75)
      assert.include(service.log(), "a fresh process is needed")
    } finally {
      await service.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }, 60_000)
})
