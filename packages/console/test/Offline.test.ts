// The pages work without a network: a real browser that opens them asks nobody but the service.
import { describe, expect, it } from "vitest"
import { startService } from "../../server/src/testing/RunningService.ts"
import { buildConsole } from "./buildConsole.ts"
import { chromiumPath, startChromium } from "./Chromium.ts"

const noBrowser = chromiumPath === undefined
if (process.env["CI"] === "true" && noBrowser) throw new Error("Chromium is missing: install chromium")

describe.skipIf(noBrowser)("the pages (need Chromium)", { timeout: 40_000 }, () => {
  it.each(["/", "/docs"])("at %s ask nobody but the service", async (path) => {
    await buildConsole()
    const service = await startService()
    const browser = await startChromium(new Int16Array(16_000))
    try {
      const page = await browser.open("about:blank")
      const asked: Array<string> = []
      page.on("request", (request) => void asked.push(request.url()))
      await page.goto(service.url + path)
      await page.getByText("Parley").first().waitFor()
      await new Promise((rest) => setTimeout(rest, 1_500))
      expect(asked.length).toBeGreaterThan(0)
      expect(asked.filter((url) => !url.startsWith(service.url) && !/^(data|blob|about):/.test(url))).toEqual([])
    } finally {
      await browser.close()
      await service.stop()
    }
  })
})
