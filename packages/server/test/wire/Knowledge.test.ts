// Documents in a real call: what the model is told of them, and what the record shows.
import * as FakeChat from "@parley/llm/testing/FakeChatServer"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { joinCall, until } from "../../src/testing/RtcCaller.ts"
import { type RunningService, startService } from "../../src/testing/RunningService.ts"

interface Entry {
  readonly kind: string
  readonly name: string
  readonly data: { readonly passages?: ReadonlyArray<{ readonly title: string; readonly text: string }> }
}

const path = "/v1/agent/knowledge-sources"
const filler = "This is about the history of the house and of the family that built it.\n\n"
const scope = Effect.runSync(Scope.make())
let service: RunningService
let chat: FakeChat.FakeChatServer

const upload = async (method: string, where: string, content: string): Promise<string> => {
  const body = new FormData()
  body.append("source", new Blob([content]), "house.md")
  const headers = { authorization: `Bearer ${service.key}` }
  const response = await fetch(service.url + where, { method, headers, body })
  expect(response.ok).toBe(true)
  return ((await response.json()) as { readonly knowledge_source_id: string }).knowledge_source_id
}

const published = (id: string) =>
  service.agent({
    prompt: { system_prompt: "You are a guide.", first_message_mode: "off" },
    knowledge_base: { knowledge_source_ids: [id] },
    llm: { custom: { base_url: `${chat.baseUrl}/chat/completions`, model: "m", api_key: "k" } }
  })

/** One typed turn; what the model was told in it, and the session's id. */
const asked = async (agent: string, text: string) => {
  const ticket = await service.api<{ session_id: string; rtc_url: string; token: string }>(
    "POST",
    "/v1/agent/sessions",
    { agent_id: agent, world_context: false }
  )
  const before = chat.requests.length
  const caller = await joinCall(ticket)
  await until("the agent listens", () => caller.state() === "listening")
  await caller.send({ type: "user.message", text })
  await until("an answer", () => caller.heard.length > 20)
  await caller.leave()
  const messages = chat.requests[before]?.body["messages"] as ReadonlyArray<{ role: string; content: string }>
  return { messages, session: ticket.session_id }
}

beforeAll(async () => {
  service = await startService({ PARLEY_ALLOW_PRIVATE_NETWORKS: "127.0.0.0/8" })
  chat = await Effect.runPromise(
    Scope.provide(
      FakeChat.make(() => ({ kind: "say", text: "Gladly, here is what I know about it." })),
      scope
    )
  )
})

afterAll(async () => {
  await service.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

describe("knowledge", { timeout: 60_000 }, () => {
  it("is searched for the caller's words in the revision that was published", async () => {
    const id = await upload("POST", path, `# Story\n\n${filler.repeat(150)}# Tickets\n\nA ticket costs 14 euros.`)
    const agent = await published(id)
    await upload("PATCH", `${path}/${id}`, `${filler.repeat(150)}# Tickets\n\nA ticket costs 99 euros.`)
    let { messages, session } = await asked(agent, "How much are two tickets?")
    // A machine too busy to search in time answers without; a later call finds it.
    for (let more = 5; messages.length === 2 && more > 0; more--) {
      ;({ messages, session } = await asked(agent, "How much are two tickets?"))
    }
    expect(messages.map(({ role }) => role)).toEqual(["system", "user", "user"])
    expect(messages[0]?.content).not.toContain("ticket")
    expect(messages[1]?.content).toContain("[1] house.md: Tickets\nA ticket costs 14 euros.")
    let found: Entry | undefined
    const limit = performance.now() + 20_000
    while (found === undefined && performance.now() < limit) {
      const { entries } = await service.api<{ entries: ReadonlyArray<Entry> }>(
        "GET",
        `/v1/agent/sessions/${session}/journal`
      )
      found = entries.find(({ name }) => name === "knowledge_retrieved")
      await new Promise((tick) => setTimeout(tick, 100))
    }
    expect(found?.data.passages?.[0]).toMatchObject({
      title: "house.md: Tickets",
      text: "A ticket costs 14 euros."
    })
  })

  it("is known by heart when it is short", async () => {
    const agent = await published(await upload("POST", path, "A ticket costs 15 euros."))
    const { messages } = await asked(agent, "How much are two tickets?")
    expect(messages.map(({ role }) => role)).toEqual(["system", "user", "user"])
    expect(messages[0]?.content).not.toContain("ticket")
    expect(messages[1]?.content).toMatch(
      /^\[.*\]\n<documents>\n<document title="house\.md">\nA ticket costs 15 euros\.\n<\/document>\n<\/documents>$/
    )
  })
})
