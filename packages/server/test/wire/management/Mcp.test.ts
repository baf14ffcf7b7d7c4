// A call of the running service that uses a tool of the protocol's official SDK: listed, named, called, in the record,
// and the session with the server closed.
import * as FakeChat from "@parley/llm/testing/FakeChatServer"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { joinCall, until } from "../../../src/testing/RtcCaller.ts"
import { type RunningService, startService } from "../../../src/testing/RunningService.ts"
import { peersMissing, type SdkPeer, sdkServer } from "../../../../app/test/tools/McpPeers.ts"

interface Item {
  readonly type: string
  readonly tool_source?: string
  readonly tool_name?: string
  readonly output?: string | null
}

const scope = Effect.runSync(Scope.make())
let service: RunningService
let chat: FakeChat.FakeChatServer
let peer: SdkPeer

const make = <A>(effect: Effect.Effect<A, never, Scope.Scope>) => Effect.runPromise(Scope.provide(effect, scope))

beforeAll(async () => {
  if (peersMissing) return
  chat = await make(
    FakeChat.make((index) =>
      index === 0
        ? { kind: "tool", name: "visits_find_visit", arguments: '{"day":"2026-03-02"}' }
        : { kind: "say", text: "It is at three." }
    )
  )
  peer = await make(sdkServer({ json: false }))
  service = await startService({ PARLEY_ALLOW_PRIVATE_NETWORKS: "127.0.0.1" })
})
afterAll(async () => {
  if (peersMissing) return
  await service.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

describe.skipIf(peersMissing)("an agent with an MCP server", { timeout: 60_000 }, () => {
  it("uses its tools in a call", async () => {
    const server = await service.api<{ mcp_server_id: string }>("POST", "/v1/agent/mcp-servers", {
      name: "Visits",
      url: peer.url,
      headers: [{ name: "X-Door", value: "open sesame" }]
    })
    const path = `/v1/agent/mcp-servers/${server.mcp_server_id}`
    const listed = await service.api<{ tools: ReadonlyArray<{ name: string }> }>("GET", `${path}/tools`)
    expect(listed.tools.map(({ name }) => name)).toEqual(["find.visit", "cancel_visit"])
    const lost = await service.api<{ mcp_server_id: string }>("POST", "/v1/agent/mcp-servers", {
      name: "Lost",
      url: peer.url
    })
    const config = {
      prompt: { system_prompt: "You find visits.", first_message_mode: "off" },
      analysis: { summary: { enabled: false } },
      llm: { custom: { base_url: chat.baseUrl, model: "m", api_key: "k" } }
    }
    const withLost = service.agent({ ...config, tools: { mcp_server_ids: [lost.mcp_server_id] } })
    await expect(withLost).rejects.toThrow(/502 .*The MCP server Lost cannot be asked: the server answered 401/)
    const agent = await service.agent({ ...config, tools: { mcp_server_ids: [server.mcp_server_id] } })
    const opened = peer.sessions.opened
    await expect(service.api("DELETE", path)).rejects.toThrow(/409/)

    type Ticket = { session_id: string; rtc_url: string; token: string }
    const ticket = await service.api<Ticket>("POST", "/v1/agent/sessions", { agent_id: agent })
    const caller = await joinCall(ticket)
    await until("the agent listens", () => caller.state() === "listening")
    await caller.send({ type: "user.message", text: "when is my visit" })
    await until("the answer is heard", () => caller.heard.length > 20)
    expect(caller.events.find(({ type }) => type === "tool.completed")).toMatchObject({
      toolName: "visits_find_visit",
      toolSource: "mcp",
      output: "A visit on 2026-03-02\nat three."
    })
    await caller.leave()

    const sent = chat.requests[0]?.body as { tools: ReadonlyArray<{ function: { name: string } }> }
    expect(sent.tools.map((tool) => tool.function.name)).toEqual(["visits_find_visit", "visits_cancel_visit"])
    const session = `/v1/agent/sessions/${ticket.session_id}`
    type Detail = { status: string; items: ReadonlyArray<Item> }
    let detail = await service.api<Detail>("GET", session)
    for (let tries = 0; detail.status !== "completed" && tries < 200; tries++) {
      await new Promise((tick) => setTimeout(tick, 50))
      detail = await service.api<Detail>("GET", session)
    }
    expect(detail.items.filter(({ type }) => type !== "message")).toMatchObject([
      { type: "tool_call", tool_name: "visits_find_visit", tool_source: "mcp" },
      { type: "tool_result", status: "completed", output: "A visit on 2026-03-02\nat three.", tool_source: "mcp" }
    ])
    // Its tools were known from the publication: there is the session in which the tool ran, and none to list them.
    expect(peer.sessions.opened).toBe(opened + 1)
    await until("the session was closed", () => peer.sessions.open.size === 0)
    expect(peer.called).toEqual([{ day: "2026-03-02" }])
    expect(service.log()).not.toContain("open sesame")
  })
})
