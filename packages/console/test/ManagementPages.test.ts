// The management pages as a person uses them: a tool is created and tested, a document added, both given to an agent, a
// webhook set; then a typed call, and its record.
import * as FakeChat from "@parley/llm/testing/FakeChatServer"
import { Effect, Exit, Scope } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { RunningService } from "../../server/src/testing/RunningService.ts"
import { click, type ConsoleSession, noBrowser, openConsole, openPage } from "./ConsoleSession.ts"

/** A customer's server: remembers what it was asked. */
const receiver = createServer((request, response) => {
  let body = ""
  request.on("data", (data: Buffer) => (body += data.toString()))
  request.on("end", () => {
    asked.push({
      path: request.url ?? "",
      body,
      signature: String(request.headers["x-vendor-webhook-signature"] ?? "")
    })
    response.writeHead(200, { "content-type": "text/plain" }).end("Friday at ten is free.")
  })
})
const asked: Array<{ readonly path: string; readonly body: string; readonly signature: string }> = []

const replies: Array<FakeChat.ChatBehaviour> = [
  { kind: "tool", name: "book_a_slot", arguments: '{"day":"Friday"}' },
  { kind: "say", text: "You have the slot on Friday at ten." }
]
const analysis = JSON.stringify({ summary: "A slot on Friday was booked.", data: { day: { value: "Friday" } } })

describe.skipIf(noBrowser)("the management pages of the console (needs Chromium)", { timeout: 120_000 }, () => {
  const scope = Effect.runSync(Scope.make())
  let session: ConsoleSession
  let service: RunningService
  let page: Page
  let chat: FakeChat.FakeChatServer
  let address = ""

  beforeAll(async () => {
    receiver.listen(0, "127.0.0.1")
    await once(receiver, "listening")
    address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
    chat = await Effect.runPromise(
      Scope.provide(
        FakeChat.make((index) => replies[index] ?? { kind: "say", text: analysis }),
        scope
      )
    )
    session = await openConsole()
    service = session.service
    page = session.page
  }, 60_000)
  afterAll(async () => {
    await session?.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
    receiver.closeAllConnections()
    receiver.close()
  })

  it("makes a tool, tries it, and shows what came back", async () => {
    await openPage(page, "Tools")
    await click(page, "New tool")
    await page.getByLabel("Name", { exact: true }).fill("Book a slot")
    await page.getByLabel("Description for the model").fill("Books a slot on a day.")
    await click(page, "Add an argument")
    await page.getByLabel("Argument", { exact: true }).fill("day")
    await page.getByLabel("Address").fill("ftp://nowhere")
    await click(page, "Create")
    await page.getByRole("alert").filter({ hasText: "url" }).waitFor()
    await page.getByLabel("Address").fill(`${address}/slots`)
    await click(page, "Add a header")
    await page.getByLabel("Header type").selectOption("authorization_bearer")
    await page.getByLabel("Value").fill("key-of-the-clinic")
    await page.getByLabel("Body").fill('{"day":"{{day}}"}')
    await click(page, "Create")
    await page.getByText("used by 0 agents").waitFor()
    await page.getByLabel("Arguments as JSON").fill('{"day":"Monday"}')
    await click(page, "Send the request")
    await page.getByText("Friday at ten is free.").waitFor()
    expect(asked.at(-1)).toMatchObject({ path: "/slots", body: '{"day":"Monday"}' })
    // A credential that was stored is not shown again.
    expect(await page.getByLabel("Value").inputValue()).toBe("")
  })

  it("adds a document and shows it", async () => {
    await openPage(page, "Knowledge")
    await page
      .getByLabel("Add a document")
      .setInputFiles({ name: "hours.md", mimeType: "text/markdown", buffer: Buffer.from("# Hours\n\nNine to five.") })
    await page.getByText("Nine to five.").waitFor()
    await page
      .getByLabel("Replace")
      .setInputFiles({ name: "hours.md", mimeType: "text/markdown", buffer: Buffer.from("# Hours\n\nNine to six.") })
    await page.getByText("Nine to six.").waitFor()
    await page.getByText("passages, revision 2").waitFor()
  })

  it("gives an agent both, sets a webhook, and publishes it", async () => {
    await openPage(page, "Agents")
    await click(page, "New agent")
    await page.getByLabel("Opening").selectOption({ label: "The caller speaks first" })
    await page.getByRole("tab", { name: "Tools and knowledge" }).click()
    await page.getByLabel("Book a slot").check()
    await page.getByLabel("hours.md").check()
    await page.getByRole("tab", { name: "After the call" }).click()
    await click(page, "Add a field")
    await page.getByLabel("Field name").fill("day")
    await click(page, "Add an address")
    await page.getByLabel("Address").fill(`${address}/calls`)
    await page.getByLabel("Secret").fill("clinic-secret")
    await click(page, "Save draft")
    await page.getByText("Draft saved.").waitFor()
    const { agents } = await service.api<{ agents: ReadonlyArray<{ agent_id: string }> }>("GET", "/v1/agent/agents")
    await service.api("PATCH", `/v1/agent/agents/${agents[0]?.agent_id}/config`, {
      llm: { custom: { base_url: chat.baseUrl, model: "m", api_key: "k" } }
    })
    await click(page, "Publish")
    await page.getByText("Version 1 is live.").waitFor()
    await page.getByRole("tab", { name: "Versions" }).click()
    await page.getByRole("rowheader", { name: "1" }).waitFor()
  })

  it("shows the call that was held: words, tool, analysis, webhooks", async () => {
    await click(page, "Call the agent")
    await page
      .getByLabel("Conversation")
      .getByRole("status")
      .filter({ hasText: /listening/ })
      .waitFor()
    await page.getByLabel("Type to the agent").fill("Friday, please")
    await click(page, "Send")
    await page.locator(".captions li.final.agent", { hasText: "on Friday at ten" }).waitFor()
    await click(page, "Hang up")
    await openPage(page, "Calls")
    await page.getByLabel("Status").selectOption("completed")
    await expect
      .poll(
        async () => {
          await click(page, "Refresh")
          return page.getByText("user hangup").count()
        },
        { timeout: 20_000 }
      )
      .toBe(1)
    await page.getByLabel("Calls").getByRole("row").nth(1).click()
    await page.getByText("Friday, please").waitFor()
    await page.getByText("completed in").waitFor()
    await expect
      .poll(
        async () => {
          await click(page, "Refresh")
          return page.getByLabel("Analysis").getByText("A slot on Friday was booked.").count()
        },
        { timeout: 20_000 }
      )
      .toBe(1)
    await page.reload()
    // Both sides can be heard; the page may load them.
    const lengths = page.getByLabel("Recording").locator("audio")
    await expect.poll(() => lengths.count(), { timeout: 20_000 }).toBe(2)
    await click(page, "Play both")
    await expect
      .poll(() => lengths.nth(1).evaluate((audio) => Reflect.get(audio, "duration") as number), { timeout: 20_000 })
      .toBeGreaterThan(1)
    await page.locator("summary", { hasText: "call.analyzed" }).waitFor()
    await page.locator("summary", { hasText: "call.ended" }).click()
    const told = () => asked.filter(({ path }) => path === "/calls").length
    await expect.poll(told, { timeout: 20_000 }).toBe(2)
    await page.getByRole("button", { name: "Send again" }).first().click()
    await page.getByText("Queued for delivery again.").waitFor()
    await expect.poll(told, { timeout: 20_000 }).toBe(3)
    expect(asked.at(-1)?.signature).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/)
    await page.locator("summary", { hasText: "Journal" }).click()
    await page.getByText("CallStarted").first().waitFor()
  })

  it("makes a test of the call", async () => {
    await click(page, "Create a test from this call")
    const test = page.getByLabel("All tests").getByRole("listitem")
    await test.getByText("1 turn, 1 expectation").waitFor()
    expect(await test.getByRole("checkbox").isChecked()).toBe(true)
    await page.getByRole("button", { name: /^Edit As in the call/ }).click()
    expect(await page.getByLabel("Caller turns").inputValue()).toBe("Friday, please")
    expect(await page.getByLabel("Expectation type").inputValue()).toBe("tool_called")
    expect(await page.getByLabel("Expected", { exact: true }).inputValue()).toBe("book_a_slot")
  })

  it("shows what it cost", async () => {
    await openPage(page, "Usage")
    await page.getByRole("cell", { name: /agent/ }).first().waitFor()
    await page.getByText("per 60 seconds").first().waitFor()
  })
})
