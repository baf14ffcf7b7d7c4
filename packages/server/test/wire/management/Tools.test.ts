// What becomes of tools when their call ends: in the record of the running service, after the caller has left.
import * as FakeChat from "@parley/llm/testing/FakeChatServer"
import { Effect, Exit, Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { joinCall, until } from "../../../src/testing/RtcCaller.ts"
import { type RunningService, startService } from "../../../src/testing/RunningService.ts"

interface Detail {
  readonly status: string
  readonly items: ReadonlyArray<{ readonly type: string } & Record<string, unknown>>
}

const scope = Effect.runSync(Scope.make())
const waiting: Array<ServerResponse> = []
const endpoint = createServer((_request, response) => void waiting.push(response))
const data = mkdtempSync(join(tmpdir(), "parley-tools-"))
const start = () => startService({ PARLEY_DATA: data, PARLEY_ALLOW_PRIVATE_NETWORKS: "127.0.0.1" })
let service: RunningService
let url = ""

beforeAll(async () => {
  await new Promise<void>((listening) => void endpoint.listen(0, "127.0.0.1", listening))
  url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/`
  service = await start()
})
afterAll(async () => {
  await service.stop()
  endpoint.closeAllConnections()
  endpoint.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(data, { recursive: true, force: true })
})

/** A call that has asked the endpoint and ended since; its session's path. */
const callThatAsks = async (execution_mode: string): Promise<string> => {
  const chat = await Effect.runPromise(
    Scope.provide(
      FakeChat.make((index) =>
        index === 0 ? { kind: "tool", name: "take_note", arguments: "{}" } : { kind: "say", text: "All right." }
      ),
      scope
    )
  )
  const { tool_id } = await service.api<{ tool_id: string }>("POST", "/v1/agent/tools", {
    name: "Take note",
    url,
    execution_mode
  })
  const agent_id = await service.agent({
    prompt: { system_prompt: "You take notes.", first_message_mode: "off" },
    tools: { tool_ids: [tool_id] },
    analysis: { summary: { enabled: false } },
    llm: { custom: { base_url: chat.baseUrl, model: "m", api_key: "k" } }
  })
  const asked = waiting.length
  type Ticket = { session_id: string; rtc_url: string; token: string }
  const ticket = await service.api<Ticket>("POST", "/v1/agent/sessions", { agent_id })
  const caller = await joinCall(ticket)
  await until("the agent listens", () => caller.state() === "listening")
  await caller.send({ type: "user.message", text: "note this" })
  await until("the endpoint was asked", () => waiting.length > asked)
  const path = `/v1/agent/sessions/${ticket.session_id}`
  await service.api("POST", `${path}/end`)
  await caller.leave()
  for (let tries = 0; tries < 200; tries++) {
    if ((await service.api<Detail>("GET", path)).status === "completed") break
    await new Promise((tick) => setTimeout(tick, 50))
  }
  return path
}

const resultsOf = async (path: string) => {
  const { items, status } = await service.api<Detail>("GET", path)
  expect(status).toBe("completed")
  expect(items.filter(({ type }) => type === "tool_call").length).toBe(1)
  return items.filter(({ type }) => type === "tool_result")
}

describe("a call that ends before its tool", { timeout: 60_000 }, () => {
  it("leaves alone what nobody waits for, and its record is completed afterwards", async () => {
    const path = await callThatAsks("fire_and_forget")
    expect(await resultsOf(path)).toEqual([])
    waiting.at(-1)?.writeHead(500).end("no more paper")
    let results = await resultsOf(path)
    for (let tries = 0; results.length === 0 && tries < 200; tries++) {
      await new Promise((tick) => setTimeout(tick, 50))
      results = await resultsOf(path)
    }
    expect(results).toMatchObject([{ status: "failed", error: "the endpoint answered 500: no more paper" }])
  })

  it.each(["background", "blocking"])(
    "cancels what it waits for (%s), which is in the record with its end",
    async (mode) => {
      const path = await callThatAsks(mode)
      const response = waiting.at(-1)
      expect(await resultsOf(path)).toMatchObject([{ status: "failed", error: "cancelled: the call ended" }])
      await until("the request is cut", () => response?.destroyed === true)
    }
  )

  it("says so in its record when the service is stopped first", async () => {
    const path = await callThatAsks("fire_and_forget")
    await service.stop()
    const { key } = service
    service = await start()
    const response = await fetch(service.url + path, { headers: { authorization: `Bearer ${key}` } })
    const { items } = (await response.json()) as Detail
    expect(items.filter(({ type }) => type === "tool_result")).toMatchObject([
      { status: "failed", error: "cancelled: the service stopped" }
    ])
  })
})
