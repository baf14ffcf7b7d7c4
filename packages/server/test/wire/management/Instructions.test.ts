// What the model is told, shown exactly as sent: the journal of a preview call beside the request its model's endpoint
// got. A call of a published version does not repeat it.
import * as FakeChat from "@parley/llm/testing/FakeChatServer"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { joinCall, until } from "../../../src/testing/RtcCaller.ts"
import { type RunningService, startService } from "../../../src/testing/RunningService.ts"

interface Ticket {
  readonly session_id: string
  readonly rtc_url: string
  readonly token: string
}

interface Journal {
  readonly entries: ReadonlyArray<{ readonly name: string; readonly data: Record<string, unknown> }>
}

const scope = Effect.runSync(Scope.make())
let service: RunningService
let chat: FakeChat.FakeChatServer

beforeAll(async () => {
  chat = await Effect.runPromise(
    Scope.provide(
      FakeChat.make(() => ({ kind: "say", text: "Good day." })),
      scope
    )
  )
  service = await startService({ PARLEY_ALLOW_PRIVATE_NETWORKS: "127.0.0.1" })
})
afterAll(async () => {
  await service.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const document = async (): Promise<string> => {
  const body = new FormData()
  body.append("source", new File(["We are open from nine to five."], "hours.md", { type: "text/markdown" }))
  const response = await fetch(`${service.url}/v1/agent/knowledge-sources`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.key}` },
    body
  })
  return ((await response.json()) as { knowledge_source_id: string }).knowledge_source_id
}

/** Holds a call of one typed turn and gives its journal. */
const journalOf = async (ticket: Ticket): Promise<Journal> => {
  const asked = chat.requests.length
  const caller = await joinCall(ticket)
  await until("the agent listens", () => caller.state() === "listening")
  await caller.send({ type: "user.message", text: "good day" })
  await until("the model was asked", () => chat.requests.length > asked)
  await until("the answer is heard", () => caller.heard.length > 20)
  await caller.leave()
  const path = `/v1/agent/sessions/${ticket.session_id}/journal`
  for (let tries = 0; ; tries++) {
    const journal = await service.api<Journal>("GET", path)
    if (journal.entries.some(({ name }) => name === "EndAsked") || tries > 200) return journal
    await new Promise((tick) => setTimeout(tick, 100))
  }
}

describe("the instructions of a call", { timeout: 60_000 }, () => {
  it("are in a preview's journal as they were sent, and in no other", async () => {
    const tool = await service.api<{ tool_id: string }>("POST", "/v1/agent/tools", {
      name: "Look up a visit",
      description: "Finds a visit by its day.",
      url: "https://api.example.com/visits/{{day}}",
      arguments: [{ name: "day", description: "YYYY-MM-DD" }]
    })
    const agent = await service.agent({
      prompt: { system_prompt: "You serve {{place}} on {{system.today}}.", first_message_mode: "off" },
      guardrails: { focus: true, manipulation: true },
      knowledge_base: { knowledge_source_ids: [await document()] },
      tools: { tool_ids: [tool.tool_id], system_tools: { hang_up_call: true } },
      analysis: { summary: { enabled: false } },
      llm: { custom: { base_url: chat.baseUrl, model: "m", api_key: "k" } }
    })
    const input = { dynamic_variables: { place: "the bay" }, timezone: "Pacific/Auckland" }
    const preview = await service.api<Ticket>("POST", `/v1/agent/agents/${agent}/preview-sessions`, input)
    const shown = (await journalOf(preview)).entries.filter(({ name }) => name === "model_instructions")
    expect(shown.length).toBe(1)
    const { documents, system, tools } = shown[0]?.data ?? {}
    const sent = chat.requests.at(-1)?.body as {
      readonly messages: ReadonlyArray<{ readonly role: string; readonly content: string }>
      readonly tools: ReadonlyArray<{ readonly function: unknown }>
    }
    expect(sent.messages[0]).toEqual({ role: "system", content: system })
    expect(sent.tools.map((each) => each.function)).toEqual(tools)
    expect(system).toMatch(/^You serve the bay on \d{4}-\d\d-\d\d\.\n\nStay with the purpose/)
    expect(system).toMatch(/Pacific\/Auckland\.$/)
    expect(system).not.toContain("nine to five")
    expect(documents).toContain("nine to five")
    expect(sent.messages[1]).toEqual({ role: "user", content: documents })
    expect(tools).toMatchObject([{ name: "look_up_a_visit" }, { name: "hang_up_call" }])

    const session = await service.api<Ticket>("POST", "/v1/agent/sessions", { agent_id: agent, ...input })
    const journal = await journalOf(session)
    expect(journal.entries.length).toBeGreaterThan(3)
    expect(JSON.stringify(journal)).not.toContain("You serve")
  })
})
