// What happens when a balance is spent, seen from outside: nothing new begins, and what runs ends within seconds. Every
// workspace has 5 units; the operator takes most of them back, so that an agent's second (0.001) and a byte of speech
// (0.000015) count.
import * as FakeChat from "@parley/llm/testing/FakeChatServer"
import { Effect, Exit, Scope } from "effect"
import { randomUUID } from "node:crypto"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { joinCall } from "../../../src/testing/RtcCaller.ts"
import { type RunningService, startService } from "../../../src/testing/RunningService.ts"
import { liveSocket } from "../speech/LiveSocket.ts"
import { foreignKey, long, operate } from "../speech/SpeechClient.ts"

const scope = Effect.runSync(Scope.make())
let service: RunningService
let chat: FakeChat.FakeChatServer

beforeAll(async () => {
  chat = await Effect.runPromise(
    Scope.provide(
      FakeChat.make(() => ({ kind: "hang" })),
      scope
    )
  )
  service = await startService({ PARLEY_ALLOW_PRIVATE_NETWORKS: "127.0.0.1" })
})
afterAll(async () => {
  await service.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const until = (what: string, check: () => boolean | Promise<boolean>, ms: number) =>
  expect.poll(async () => check(), { timeout: ms, message: what }).toBe(true)

/** A workspace with so many units left. */
const customer = async (who: string, units: string) => {
  // A test that is tried once more begins with a workspace of its own.
  const name = `${who}-${randomUUID().slice(0, 8)}`
  const key = await foreignKey(service, name)
  const credit = (amount: string) => operate(service, "credit", "add", "--workspace", name, "--", amount)
  await credit(`-${(5 - Number(units)).toFixed(6)}`)
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  const ask = async (method: string, path: string, body?: unknown, more: Record<string, string> = {}) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(service.url + path, { method, headers: { ...headers, ...more }, ...sent })
    const text = await response.text()
    const json = (() => {
      try {
        return JSON.parse(text) as Record<string, unknown>
      } catch {
        return {}
      }
    })()
    return { status: response.status, json }
  }
  const balance = async () => Number((await ask("GET", "/wallet/self/api-credit")).json["credit"])
  const agent = async (config: object = {}) =>
    String((await ask("POST", "/v1/agent/agents", { name: "Desk", config })).json["agent_id"])
  return { key, credit, ask, balance, agent }
}

describe("a balance that is spent", { timeout: 90_000 }, () => {
  it("ends live calls and previews, which share it, and starts no other", async () => {
    const { agent, ask, balance, credit } = await customer("caller", "0.012")
    const id = await agent()
    expect((await ask("POST", `/v1/agent/agents/${id}/publish`)).status).toBe(200)
    const ticket = async (path: string, body: object) => {
      const { json, status } = await ask("POST", path, body)
      expect(status).toBe(201)
      return json as unknown as { session_id: string; rtc_url: string; token: string }
    }
    const call = await ticket("/v1/agent/sessions", { agent_id: id })
    const preview = await ticket(`/v1/agent/agents/${id}/preview-sessions`, {})
    const late = await ticket("/v1/agent/sessions", { agent_id: id })
    const callers = [await joinCall(call), await joinCall(preview)]
    const session = async (which: string) => (await ask("GET", `/v1/agent/sessions/${which}`)).json
    await until("the call is over", async () => (await session(call.session_id))["status"] === "completed", 30_000)
    expect(await session(call.session_id)).toMatchObject({ end_reason: "agent_hangup" })
    for (const which of [call, preview]) {
      const journal = async () =>
        JSON.stringify((await ask("GET", `/v1/agent/sessions/${which.session_id}/journal`)).json)
      await expect.poll(journal, { timeout: 5_000 }).toContain('"balance_spent"')
    }
    // A call is charged by whole seconds, rounded: one of them may have been given back to each.
    const left = await balance()
    expect(left).toBeLessThan(0.003)
    expect(left).toBeGreaterThan(-0.01)
    const begins = async () => (await ask("POST", "/v1/agent/sessions", { agent_id: id })).status
    // The preview may be settled later than the call.
    await until(
      "nothing begins any more",
      async () => {
        const now = await balance()
        if (now > 0) await credit(`-${now.toFixed(9)}`)
        return now <= 0 && (await begins()) === 402
      },
      20_000
    )
    expect((await ask("POST", `/v1/agent/agents/${id}/preview-sessions`, {})).status).toBe(402)
    const tooLate = await joinCall(late).catch(() => undefined)
    await until("the late one is over", async () => (await session(late.session_id))["status"] !== "active", 10_000)
    for (const one of [...callers, tooLate]) await one?.leave()
    expect(await balance()).toBeGreaterThan(-0.02)
  })

  it("ends a socket that is fed without end, before the balance is below zero", async () => {
    const { balance, key } = await customer("reader", "0.03")
    const { closed, events, send, ws } = await liveSocket(service, undefined, { authorization: `Bearer ${key}` })
    send({ event: "start", request: { format: "pcm", sample_rate: 8000 } })
    const feeding = setInterval(() => {
      if (ws.readyState === ws.OPEN) send({ event: "text", text: `${long} ` })
    }, 20)
    expect(await closed).toBe(1008)
    clearInterval(feeding)
    expect(events.at(-1)).toMatchObject({ event: "finish", reason: "error" })
    expect(String(events.at(-1)?.["message"])).toContain("balance")
    await expect.poll(balance, { timeout: 5_000 }).toBeLessThan(0.03)
    expect(await balance()).toBeGreaterThanOrEqual(0)
  })

  it("ends a speech socket within two seconds of the operator taking the rest back", async () => {
    const { credit, key } = await customer("quiet", "1")
    const { closed, events, send } = await liveSocket(service, undefined, { authorization: `Bearer ${key}` })
    send({ event: "start", request: { format: "pcm", sample_rate: 8000 } })
    send({ event: "text", text: "I stay here. " })
    send({ event: "flush" })
    await until("sound", () => events.length > 0, 20_000)
    await credit("-2")
    const began = performance.now()
    expect(await closed).toBe(1008)
    expect(performance.now() - began).toBeLessThan(4_000)
  })

  it("refuses a text and a voice design that it does not cover, and charges neither", async () => {
    const { ask, balance } = await customer("poor", "0.005")
    expect((await ask("POST", "/v1/tts", { text: long })).status).toBe(402)
    const design = { instruction: "a calm old man", n: 1 }
    expect((await ask("POST", "/v1/voice-design", design, { model: "voice-design-1" })).status).toBe(402)
    expect(await balance()).toBe(0.005)
    expect((await ask("POST", "/v1/tts", { text: "Yes." })).status).toBe(200)
  })

  it("ends the runs of a batch of tests, and begins no further batch", async () => {
    const { agent, ask, balance } = await customer("tester", "0.006")
    const id = await agent({
      llm: { custom: { base_url: chat.baseUrl, model: "hanging", api_key: "k" } }
    })
    const tests: Array<string> = []
    for (const name of ["one", "two", "three"]) {
      const test = { name, turns: ["Hello"], expectations: [{ type: "reply_contains", text: "x" }] }
      tests.push(String((await ask("POST", "/v1/agent/tests", test)).json["test_id"]))
    }
    const begun = await ask("POST", `/v1/agent/agents/${id}/tests/run`, { test_ids: tests })
    expect(begun.status).toBe(201)
    const batch = `/v1/agent/agents/${id}/test-batches/${begun.json["batch_id"]}`
    await until("the batch is over", async () => (await ask("GET", batch)).json["status"] === "completed", 30_000)
    const runs = (await ask("GET", batch)).json["test_runs"] as ReadonlyArray<{ readonly error: string }>
    expect(runs.map(({ error }) => error)).toEqual(tests.map(() => "the balance is spent"))
    expect(await balance()).toBeGreaterThan(-0.01)
    expect((await ask("POST", `/v1/agent/agents/${id}/tests/run`, { test_ids: tests })).status).toBe(402)
  })
})
