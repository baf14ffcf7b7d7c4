// A running service, and a browser that has signed in to its console.
import type { Page } from "playwright-core"
import { type RunningService, startService } from "../../server/src/testing/RunningService.ts"
import { buildConsole } from "./buildConsole.ts"
import { chromiumPath, startChromium } from "./Chromium.ts"

export const noBrowser = chromiumPath === undefined
if (process.env["CI"] === "true" && noBrowser) throw new Error("Chromium is missing: install chromium")

export interface ConsoleSession {
  readonly service: RunningService
  readonly page: Page
  readonly close: () => Promise<void>
}

/** Servers on loopback may be called. */
export const openConsole = async (settings: Record<string, string> = {}): Promise<ConsoleSession> => {
  await buildConsole()
  const service = await startService({ PARLEY_ALLOW_PRIVATE_NETWORKS: "127.0.0.0/8", ...settings })
  const browser = await startChromium(new Int16Array(16_000))
  const page = await browser.open(`${service.url}/`, { viewport: { width: 1440, height: 900 } })
  page.setDefaultTimeout(20_000)
  await page.getByLabel("API key").fill(service.key)
  await click(page, "Sign in")
  return {
    service,
    page,
    close: async () => {
      await browser.close()
      await service.stop()
    }
  }
}

export const click = (page: Page, name: string): Promise<void> =>
  page.getByRole("button", { name, exact: true }).click()

export const openPage = (page: Page, name: string): Promise<void> =>
  page.getByLabel("Pages").getByRole("link", { name, exact: true }).click()

export const openTab = (page: Page, name: string): Promise<void> => page.getByRole("tab", { name, exact: true }).click()
