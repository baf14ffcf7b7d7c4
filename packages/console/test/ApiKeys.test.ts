// API keys in the console: one made with what it may do, shown once, used, rotated, revoked.
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { RunningService } from "../../server/src/testing/RunningService.ts"
import { click, type ConsoleSession, noBrowser, openConsole, openPage } from "./ConsoleSession.ts"

describe.skipIf(noBrowser)("API keys in the console (needs Chromium)", { timeout: 120_000 }, () => {
  let session: ConsoleSession
  let service: RunningService
  let page: Page

  beforeAll(async () => {
    session = await openConsole()
    service = session.service
    page = session.page
  }, 60_000)
  afterAll(() => session?.close())

  const statusOf = async (key: string, method: string): Promise<number> => {
    const response = await fetch(`${service.url}/v1/agent/agents`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(method === "POST" ? { body: '{"name":"Ada"}' } : {})
    })
    return response.status
  }
  const secret = async (): Promise<string> =>
    (await page.locator("code").filter({ hasText: /^pk_/ }).textContent()) ?? ""
  const till = () => page.getByRole("row").filter({ hasText: "Till" })
  let first = ""

  it("makes a key that may do what was chosen, and shows its secret once", async () => {
    await openPage(page, "API keys")
    await page.getByLabel("Label").fill("Till")
    for (const meaning of ["Manage agents", "Synthesis", "Start sessions"]) await page.getByLabel(meaning).uncheck()
    await page.getByLabel("Last day").fill("2099-12-31")
    await click(page, "Create key")
    await till().waitFor()
    first = await secret()
    expect([await statusOf(first, "GET"), await statusOf(first, "POST")]).toEqual([200, 403])
    expect(await till().textContent()).toContain("read")
    await openPage(page, "Usage")
    await openPage(page, "API keys")
    await till().waitFor()
    expect(await page.content()).not.toContain(first)
  })

  it("rotates it, and the former secret goes on; revokes it, and both are over", async () => {
    await till().getByRole("button", { name: "Rotate" }).click()
    await page.getByText("Till was rotated").waitFor()
    const second = await secret()
    expect([await statusOf(first, "GET"), await statusOf(second, "GET")]).toEqual([200, 200])
    for (const left of [1, 0]) {
      await till().first().getByRole("button", { name: "Revoke" }).click()
      await expect.poll(() => till().count()).toBe(left)
    }
    expect([await statusOf(first, "GET"), await statusOf(second, "GET")]).toEqual([401, 401])
    const changes = page.getByRole("region", { name: "Changes" }).getByRole("row")
    await expect.poll(() => changes.count()).toBe(4)
    const actions = ["keys.revokeKey", "keys.revokeKey", "keys.rotateKey", "keys.createKey"]
    for (const [index, action] of actions.entries()) expect(await changes.nth(index).textContent()).toContain(action)
  })
})
