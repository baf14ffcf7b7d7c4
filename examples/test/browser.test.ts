// The third example as it stands: a visitor presses the button, the agent greets, the words appear.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Chromium, chromiumPath, startChromium } from "../../packages/console/test/Chromium.ts"
import { type RunningService, startService } from "../../packages/server/src/testing/RunningService.ts"

const server = join(import.meta.dirname, "..", "03-join-from-a-browser", "server.ts")

const missing = chromiumPath === undefined
if (missing && process.env["CI"] === "true") throw new Error("Chromium is missing: install chromium")

describe.skipIf(missing)("03 joins from a browser (needs Chromium)", () => {
  let service: RunningService
  let browser: Chromium
  beforeAll(async () => {
    service = await startService()
    browser = await startChromium(new Int16Array(16_000))
  })
  afterAll(async () => {
    await browser?.close()
    await service?.stop()
  })

  it("greets the visitor and hangs up, and the page never sees the key", async () => {
    const agent = await service.agent({
      prompt: { system_prompt: "Greet.", first_message_mode: "fixed", first_message: "Welcome to the tea house." }
    })
    const child = spawn(process.execPath, [server], {
      env: { ...process.env, PARLEY_URL: service.url, PARLEY_API_KEY: service.key, AGENT_ID: agent, PORT: "0" },
      stdio: ["ignore", "pipe", "inherit"]
    })
    try {
      const [line] = (await once(child.stdout, "data")) as [Buffer]
      const url = line.toString().trim()
      const page = await browser.open(url)
      await page.getByRole("button", { name: "Talk" }).click()
      await page.getByText("Agent: Welcome to the tea house.").waitFor({ timeout: 15_000 })
      await page.getByRole("button", { name: "Hang up" }).click()
      await page.getByRole("status").filter({ hasText: "user_hangup" }).waitFor({ timeout: 5_000 })
      for (const path of ["", "page.js"]) {
        expect(await (await fetch(url + path)).text()).not.toContain(service.key)
      }
      expect((await fetch(`${url}nothing`)).status).toBe(404)
    } finally {
      child.kill()
    }
  }, 40_000)
})
