// People talk to an agent by browser and by telephone, with a canary in all they give and say; then one of them is erased.
// The canaries are looked for in every table and in every file but the database's own, whose free pages keep what was in
// them until they are written again.
import * as FakeChat from "@parley/llm/testing/FakeChatServer"
import { askDatabase } from "@parley/workspace/testing/askDatabase"
import { Effect, Exit, Scope } from "effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { joinCall, until } from "../../../src/testing/RtcCaller.ts"
import { type RunningService, startService } from "../../../src/testing/RunningService.ts"

/** What each person gives along; all of it is theirs alone. */
const canaries = (name: string) => ({
  end_user_id: `person ${name}/1`,
  said: `xylophonist${name}`,
  metadata: `metadata-${name}`,
  variable: `variable-${name}`,
  title: `title-${name}`
})
const gone = canaries("gryphon")
const alsoGone = { number: "+442079460987", key: "key-for-dodo", metadata: "metadata-dodo" }
const kept = canaries("mockturtle")

const scope = Effect.runSync(Scope.make())
const data = mkdtempSync(join(tmpdir(), "parley-erasure-"))
const hook = createServer((request, response) => request.resume().on("end", () => response.end("{}")))
let service: RunningService
let agent = ""

beforeAll(async () => {
  const chat = await Effect.runPromise(
    Scope.provide(
      FakeChat.make(() => ({ kind: "say", text: '{"summary": "They talked."}' })),
      scope
    )
  )
  await new Promise<void>((ready) => hook.listen(0, "127.0.0.1", ready))
  service = await startService({
    PARLEY_DATA: data,
    PARLEY_ALLOW_PRIVATE_NETWORKS: "127.0.0.0/8",
    PARLEY_SIP_PORT: "0"
  })
  agent = await service.agent({
    prompt: { first_message_mode: "off" },
    llm: { custom: { base_url: chat.baseUrl, model: "m", api_key: "k" } },
    webhooks: { post_call: [{ url: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`, secret: null }] }
  })
})
afterAll(async () => {
  await service.stop()
  hook.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(data, { recursive: true, force: true })
})

type Json = Record<string, unknown>

const ask = async (method: string, path: string, body?: unknown, more: Record<string, string> = {}) => {
  const response = await fetch(`${service.url}/v1/agent${path}`, {
    method,
    headers: { authorization: `Bearer ${service.key}`, "content-type": "application/json", ...more },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return { status: response.status, json: (await response.json().catch(() => ({}))) as Json }
}

/** A recorded call in which the person types their canary. */
const talk = async (person: typeof gone): Promise<string> => {
  const { json, status } = await ask("POST", "/sessions", {
    agent_id: agent,
    end_user_id: person.end_user_id,
    name: person.title,
    metadata: { note: person.metadata },
    dynamic_variables: { given: person.variable },
    record_audio: true
  })
  expect(status).toBe(201)
  const session = String(json["session_id"])
  const caller = await joinCall(json as unknown as { rtc_url: string; token: string })
  await until("the agent listens", () => caller.state() === "listening")
  await caller.send({ type: "user.message", text: `I am a ${person.said}.` })
  await until("an answer", () => caller.heard.length > 60, 40_000)
  expect((await ask("DELETE", `/sessions/${session}`)).status).toBe(409)
  expect((await ask("DELETE", `/end-users/${encodeURIComponent(person.end_user_id)}`)).status).toBe(409)
  await caller.leave()
  await expect
    .poll(async () => (await ask("GET", `/sessions/${session}`)).json["analysis"], { timeout: 40_000, interval: 500 })
    .not.toBeNull()
  return session
}

/** A telephone call to a carrier that is not there. */
const dial = async (): Promise<string> => {
  const number = await ask("POST", "/phone-numbers", {
    provider: "sip",
    phone_number: "+14155550123",
    agent_id: agent,
    inbound_allowed_addresses: ["203.0.113.7"],
    termination_uri: "127.0.0.1:9",
    termination_transport: "tcp"
  })
  const call = {
    agent_id: agent,
    phone_number_id: number.json["phone_number_id"],
    to_number: alsoGone.number,
    metadata: { note: alsoGone.metadata }
  }
  const { json } = await ask("POST", "/phone-calls", call, { "idempotency-key": alsoGone.key })
  const session = String(json["session_id"])
  await expect
    .poll(async () => (await ask("GET", `/sessions/${session}`)).json["status"], { timeout: 40_000, interval: 500 })
    .toBe("failed")
  // Nobody was there to say anything: what a carrier would have said.
  await askDatabase(data, "INSERT INTO session_ladders (session_id, ladder) VALUES ($1, $2::jsonb)", [
    session,
    JSON.stringify([{ atMs: 1, direction: "sent", what: "INVITE", detail: alsoGone.number }])
  ])
  return session
}

/** Every table, and every file but the database's own, that has one of these texts. */
const places = async (texts: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const has = (text: string) => texts.some((one) => text.includes(one))
  const tables = await askDatabase(
    data,
    "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
  )
  const found: Array<string> = []
  for (const { table_name } of tables) {
    const rows = await askDatabase(data, `SELECT t::text AS line FROM "${String(table_name)}" t`)
    if (rows.some(({ line }) => has(String(line)))) found.push(String(table_name))
  }
  const files = readdirSync(data, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.startsWith(join(data, "postgres/")))
  for (const file of files) if (has(readFileSync(file).toString("latin1"))) found.push(file.slice(data.length))
  return found.toSorted()
}

const usage = async () => {
  const answer = await fetch(`${service.url}/wallet/self/usage`, {
    headers: { authorization: `Bearer ${service.key}` }
  })
  return answer.text()
}

const recordings = () => readdirSync(join(data, "blobs", "recordings")).length

describe("erasure", { timeout: 150_000 }, () => {
  it("leaves nothing of a person but what billing needs, and everything of others", async () => {
    const [first, second, other] = [await talk(gone), await talk(gone), await talk(kept)]
    const call = await dial()
    const theirs = Object.values(gone)
    expect(await places(theirs)).toEqual(
      expect.arrayContaining(["session_items", "session_journal", "sessions", "webhook_deliveries"])
    )
    await expect.poll(recordings, { timeout: 10_000 }).toBe(6)
    const used = await usage()
    const before = (await ask("GET", `/sessions/${second}`)).json

    const one = await ask("DELETE", `/sessions/${first}`)
    expect(one.status).toBe(200)
    expect(one.json).toMatchObject({ sessions: 1, recordings: 2, analyses: 1, webhook_deliveries: 2, sip_traces: 0 })
    expect(one.json["items"]).toBeGreaterThan(0)
    expect(one.json["journal_entries"]).toBeGreaterThan(0)
    const path = `/end-users/${encodeURIComponent(gone.end_user_id)}`
    expect((await ask("DELETE", path)).json).toMatchObject({ sessions: 1, recordings: 2 })
    for (const again of [path, `/sessions/${first}`, "/end-users/nobody"]) {
      const { json, status } = await ask("DELETE", again)
      expect([status, new Set(Object.values(json))]).toEqual([200, new Set([0])])
    }

    expect(await places(theirs)).toEqual([])
    const left = (await askDatabase(data, "SELECT DISTINCT session_id FROM session_items")).map(
      (row) => row["session_id"]
    )
    expect(left).toEqual([other])
    expect(recordings()).toBe(2)
    expect(await usage()).toBe(used)
    const stub = (await ask("GET", `/sessions/${second}`)).json
    expect(stub).toMatchObject({ items: [], analysis: null, end_user_id: "", name: "", metadata: {} })
    for (const field of ["started_at", "ended_at", "duration_seconds", "end_reason"]) {
      expect([field, stub[field]]).toEqual([field, before[field]])
    }
    expect((await ask("GET", `/sessions/${second}/recording`)).status).toBe(404)

    const caller = await ask("DELETE", `/end-users?caller_number=${encodeURIComponent(alsoGone.number)}`)
    expect(caller.json).toMatchObject({ sessions: 1, sip_traces: 1 })
    expect(await places(Object.values(alsoGone))).toEqual([])
    expect((await ask("GET", `/sessions/${call}/sip-trace`)).json["lines"]).toEqual([])

    const all = (await ask("DELETE", `/end-users/${encodeURIComponent(kept.end_user_id)}`)).json
    expect(all).toMatchObject({ sessions: 1 })
    expect(await places([...theirs, ...Object.values(kept)])).toEqual([])
  })
})
