// Setting an agent up: an MCP server is connected, model and conversation settings are changed, the changes are compared
// before publishing, and tests are written, run and fixed.
import * as FakeChat from "@parley/llm/testing/FakeChatServer"
import { Effect, Exit, Scope } from "effect"
import { McpProtocol } from "effect/ai"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { RunningService } from "../../server/src/testing/RunningService.ts"
import { effectServer } from "../../app/test/tools/McpPeers.ts"
import { click, type ConsoleSession, noBrowser, openConsole, openPage, openTab } from "./ConsoleSession.ts"

interface Config {
  readonly voice: Record<string, unknown>
  readonly conversation: Record<string, unknown>
  readonly asr: { readonly keyterms: ReadonlyArray<string> }
  readonly llm: object
  readonly tools: { readonly mcp_server_ids?: ReadonlyArray<string> }
}

/** What the model does next; then it says the same again and again. */
const replies: Array<FakeChat.ChatBehaviour> = []

describe.skipIf(noBrowser)("setting an agent up in the console (needs Chromium)", { timeout: 120_000 }, () => {
  const scope = Effect.runSync(Scope.make())
  const make = <A>(effect: Effect.Effect<A, unknown, Scope.Scope>) => Effect.runPromise(Scope.provide(effect, scope))
  let session: ConsoleSession
  let service: RunningService
  let page: Page
  let chat: FakeChat.FakeChatServer
  let clock: string

  beforeAll(async () => {
    chat = await make(
      FakeChat.make(() => replies.shift() ?? { kind: "say", text: "The slot on Friday at ten is yours." })
    )
    clock = await make(effectServer(McpProtocol.v2025_06_18))
    session = await openConsole()
    service = session.service
    page = session.page
  }, 60_000)
  afterAll(async () => {
    await session?.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  const configOf = async (): Promise<Config> => {
    const { agents } = await service.api<{ agents: ReadonlyArray<{ agent_id: string }> }>("GET", "/v1/agent/agents")
    return service.api<Config>("GET", `/v1/agent/agents/${agents[0]?.agent_id}/config`)
  }
  const save = async (): Promise<void> => {
    await click(page, "Save draft")
    await page.getByText("Draft saved.").waitFor()
  }

  it("lists the tools of an MCP server", async () => {
    await openPage(page, "Tools")
    await click(page, "New MCP server")
    await page.getByLabel("Name", { exact: true }).fill("Clock")
    await page.getByLabel("Address").fill("ftp://nowhere")
    await click(page, "Create")
    await page.getByRole("alert").filter({ hasText: "url" }).waitFor()
    await page.getByLabel("Address").fill(`${clock}-is-elsewhere`)
    await click(page, "Add a header")
    await page.getByLabel("Header", { exact: true }).fill("X-Token")
    await page.getByLabel("Value").fill("open sesame")
    await click(page, "Create")
    const offered = page.getByLabel("Available tools")
    await offered.getByRole("alert").waitFor()
    expect(await page.getByLabel("Value").inputValue()).toBe("")
    await page.getByLabel("Address").fill(clock)
    await click(page, "Save")
    await offered.getByText("The time in a place.").waitFor()
    expect(await offered.getByRole("alert").count()).toBe(0)
    const { mcp_servers } = await service.api<{ mcp_servers: ReadonlyArray<object> }>("GET", "/v1/agent/mcp-servers")
    expect(mcp_servers).toMatchObject([{ url: clock, headers: [{ name: "X-Token", value: null, has_secret: true }] }])
  })

  it("gives it to an agent, and cannot remove it then", async () => {
    await openPage(page, "Agents")
    await click(page, "New agent")
    await openTab(page, "Tools and knowledge")
    await page.getByLabel("Clock").check()
    await save()
    expect((await configOf()).tools.mcp_server_ids).toHaveLength(1)
    await openPage(page, "Tools")
    await page.getByLabel("MCP servers").getByRole("link", { name: "Clock" }).click()
    await page.getByText("used by 1 agent").waitFor()
    await click(page, "Remove the server")
    await page.getByRole("alert").filter({ hasText: "Remove it from the agent's tools first." }).waitFor()
    await openPage(page, "Agents")
    await openTab(page, "Tools and knowledge")
    await page.getByLabel("Clock").uncheck()
    await save()
    expect("mcp_server_ids" in (await configOf()).tools).toBe(false)
    await openPage(page, "Tools")
    await page.getByLabel("MCP servers").getByRole("link", { name: "Clock" }).click()
    await click(page, "Remove the server")
    await expect.poll(() => page.getByLabel("MCP servers").getByRole("link").count(), { timeout: 20_000 }).toBe(0)
  })

  it("sets its model and its conversation settings", async () => {
    await openPage(page, "Agents")
    await openTab(page, "Behaviour")
    await page.getByLabel("Opening").selectOption({ label: "The caller speaks first" })
    await page.getByLabel("Model provider").selectOption({ label: "Custom endpoint" })
    await page.getByLabel("Address, OpenAI-compatible").fill(chat.baseUrl)
    await page.getByLabel("Model", { exact: true }).fill("m")
    await click(page, "Save draft")
    await page.getByRole("alert").filter({ hasText: "api_key" }).waitFor()
    await page.getByLabel("Key", { exact: true }).fill("key-of-the-endpoint")
    await page.getByLabel("Spoken language").selectOption("de")
    await page.getByLabel("Maximum wait mode").selectOption("own")
    await page.getByLabel("Ask whether the caller is still there").check()
    await page.getByLabel("Hang up after").fill("45")
    await page.getByLabel("Say goodbye").check()
    await page.getByLabel("Key terms").fill("Okonkwo\nParley\n")
    await save()
    expect(await page.getByLabel("Key", { exact: true }).inputValue()).toBe("")
    expect(await page.getByLabel("Key", { exact: true }).getAttribute("placeholder")).toBe("stored")
    expect(await configOf()).toMatchObject({
      voice: { speaking_language: "de" },
      conversation: {
        response_max_wait_ms: 2000,
        reengage_enabled: true,
        hangup_after_seconds: 45,
        hangup_farewell_enabled: true
      },
      asr: { keyterms: ["Okonkwo", "Parley"] },
      llm: { model: null, custom: { base_url: chat.baseUrl, model: "m" } }
    })
  })

  it("says what publishing would change", async () => {
    await click(page, "Publish")
    await page.getByText("Version 1 is live.").waitFor()
    await click(page, "Publish")
    const changes = page.getByLabel("Changes")
    await changes.getByText("No changes: the draft is already live.").waitFor()
    await click(page, "Cancel")
    await page.getByLabel("Hang up after").fill("90")
    await page.getByLabel("Key terms").fill("Parley\nDr. Ada")
    await page.getByLabel("Prompt").fill("You are the receptionist of a practice. ".repeat(4))
    await click(page, "Publish")
    await changes.getByText("hangup after seconds: 45 → 90").waitFor()
    await changes.getByText("keyterms: 1 added, 1 removed").waitFor()
    await changes.getByText("system prompt: text changed").waitFor()
    expect(await changes.locator("dt").allTextContents()).toEqual(["Prompt", "Speech recognition", "Conversation"])
    await page.getByLabel("Title of the version").fill("More patient")
    await click(page, "Publish version")
    await page.getByText("Version 2 is live.").waitFor()
    await openTab(page, "Versions")
    await page.getByRole("cell", { name: "More patient" }).waitFor()
  })

  it("holds a test, shows why it failed, and passes once it is fixed", async () => {
    await openTab(page, "Tests")
    await click(page, "New test")
    await page.getByLabel("Name of the test").fill("Books Friday")
    await page.getByLabel("Caller turns").fill("Friday at ten, please\n\nthank you")
    await page.getByLabel("Expected", { exact: true }).fill("friday at TEN")
    await click(page, "Add an expectation")
    await page.getByLabel("Expectation type").nth(1).selectOption("tool_called")
    await page.getByLabel("Expected", { exact: true }).nth(1).fill("Book a slot")
    await page.getByLabel("Arguments as JSON").fill('{"day": "Friday"}')
    await click(page, "Create the test")
    await page.getByText("2 turns, 2 expectations").waitFor()
    await click(page, "Run attached tests")
    const results = page.getByLabel("Results", { exact: true })
    await results.getByText("0 of 1 passed, 1 failed").waitFor()
    await results.locator("summary", { hasText: "Books Friday" }).click()
    await results.getByText("The reply contains “friday at TEN”").waitFor()
    await results.locator("li.failed", { hasText: "Book a slot" }).getByText("it was not called").waitFor()
    await results.getByText("thank you").waitFor()

    await click(page, "Edit Books Friday")
    await page.getByLabel("Expectation type").nth(1).selectOption("tool_not_called")
    await click(page, "Save the test")
    await page.getByLabel("Name of the test").waitFor({ state: "detached" })
    await click(page, "Run Books Friday")
    await results.getByText("1 of 1 passed").waitFor()
  })

  it("answers tool calls in tests with mock responses", async () => {
    await openPage(page, "Tools")
    await click(page, "New tool")
    await page.getByLabel("Name", { exact: true }).fill("Book a slot")
    await click(page, "Add an argument")
    await page.getByLabel("Argument", { exact: true }).fill("day")
    await page.getByLabel("Address").fill("https://api.example.com/slots")
    await page.getByLabel("Mock response in tests").fill("It is booked under number seven.")
    await click(page, "Create")
    await page.getByText("used by 0 agents").waitFor()
    await openPage(page, "Agents")
    await openTab(page, "Tools and knowledge")
    await page.getByLabel("Book a slot").check()
    await save()
    await openTab(page, "Tests")
    await click(page, "Edit Books Friday")
    await page.getByLabel("Expectation type").nth(1).selectOption("tool_called")
    await page.getByLabel("Arguments as JSON").fill('{"day": "Friday"}')
    await click(page, "Save the test")
    await page.getByLabel("Name of the test").waitFor({ state: "detached" })
    replies.push({ kind: "tool", name: "book_a_slot", arguments: '{"day":"Friday"}' })
    await click(page, "Run Books Friday")
    // The results of the third run, not those that were there before it.
    await expect.poll(() => page.getByLabel("Results of").locator("option").count(), { timeout: 20_000 }).toBe(3)
    const results = page.getByLabel("Results", { exact: true })
    await results.getByText("1 of 1 passed").waitFor()
    await results.locator("summary", { hasText: "Books Friday" }).click()
    await results.getByText("It is booked under number seven.").waitFor()
    await results.locator("li.passed", { hasText: '{"day":"Friday"}' }).waitFor()
  })

  it("takes a test from an agent, and removes it", async () => {
    await page.getByLabel("All tests").getByRole("checkbox").uncheck()
    await expect
      .poll(() => page.getByRole("button", { name: "Run attached tests" }).isDisabled(), { timeout: 20_000 })
      .toBe(true)
    await click(page, "Edit Books Friday")
    await click(page, "Remove the test")
    await expect.poll(() => page.getByLabel("All tests").getByRole("listitem").count(), { timeout: 20_000 }).toBe(0)
  })
})
