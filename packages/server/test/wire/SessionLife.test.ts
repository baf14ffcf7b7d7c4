// Every way a session ends, each by a real call to the running service: what the caller is told, what the record
// says. The calls are held at the same time; deadlines that are minutes away are moved in the database.
import * as FakeChat from "@parley/llm/testing/FakeChatServer"
import { askDatabase } from "@parley/workspace/testing/askDatabase"
import { Effect, Exit, Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { joinCall, type RtcCaller, until } from "../../src/testing/RtcCaller.ts"
import { type RunningService, startService } from "../../src/testing/RunningService.ts"

interface Ticket {
  readonly session_id: string
  readonly rtc_url: string
  readonly token: string
}

interface Detail {
  readonly status: string
  readonly end_reason: string | null
  readonly started_at: string | null
  readonly duration_seconds: number | null
  readonly items: ReadonlyArray<{ readonly role: string; readonly content: string }>
}

const apiKey = "key-of-the-session-life-test-of-32"
const secretWords = "my code word is rumpelstiltskin"
const silent = { prompt: { system_prompt: "You are a receptionist.", first_message_mode: "off" } }

const scope = Effect.runSync(Scope.make())
const chatServer = (status: number) =>
  Effect.runPromise(
    Scope.provide(
      FakeChat.make(() => ({ kind: "status", status })),
      scope
    )
  )

/** What neither the log nor a metric may hold. */
const secrets = new Set([apiKey, "rumpelstiltskin", "caller-identity-77", "secret-of-the-endpoint", "opening hours"])

const open = async (service: RunningService, agent_id: string): Promise<Ticket> => {
  const body = { agent_id, end_user_id: "caller-identity-77" }
  const ticket = await service.api<Ticket>("POST", "/v1/agent/sessions", body)
  // The id is also the caller's identity at the media server, but for its prefix.
  secrets.add(ticket.token).add(ticket.session_id.replace("session", ""))
  return ticket
}

const detailOf = (service: RunningService, ticket: Ticket) =>
  service.api<Detail>("GET", `/v1/agent/sessions/${ticket.session_id}`)

/** The record once the session is over. */
const over = async (service: RunningService, ticket: Ticket, ms = 20_000): Promise<Detail> => {
  const limit = performance.now() + ms
  for (;;) {
    const detail = await detailOf(service, ticket)
    if (detail.end_reason !== null) return detail
    if (performance.now() > limit) throw new Error(`still ${detail.status} after ${ms} ms`)
    await new Promise((tick) => setTimeout(tick, 100))
  }
}

const endingOf = ({ end_reason, status }: Detail) => `${status}/${end_reason}`

const listening = async (caller: RtcCaller): Promise<RtcCaller> => {
  await until("the agent listens", () => caller.state() === "listening")
  return caller
}

/**
 * Types and waits until some words of the answer were heard. Sound alone does not tell: on a busy machine the client's
 * concealment of late packets stretches a quarter of a second of the answer to more than half a second, of which no word
 * was played to its middle, so that none is recorded.
 */
const converse = async (caller: RtcCaller, text: string): Promise<void> => {
  const before = caller.heard.length
  const segments = caller.segmentsHeard()
  await caller.send({ type: "user.message", text })
  await until(`an answer to: ${text}`, () => caller.heard.length > before + 60 && caller.segmentsHeard() > segments)
}

const toldEnd = (caller: RtcCaller) => caller.events.find((event) => event["type"] === "session.ended")?.["reason"]

/** What /health said, asked again and again until nobody answers. */
const statusesUntilGone = async ({ url }: RunningService): Promise<ReadonlySet<string>> => {
  const seen = new Set<string>()
  try {
    for (;;) {
      const health = await fetch(`${url}/health`, { headers: { connection: "close" } })
      seen.add(((await health.json()) as { readonly status: string }).status)
    }
  } catch {
    return seen
  }
}

const validate = ({ rtc_url, token }: Ticket) =>
  fetch(`${rtc_url.replace(/^ws/, "http").replace(/\/$/, "")}/rtc/v1/validate?access_token=${token}`).then(
    (answer) => answer.status
  )

let service: RunningService
const folders: Array<string> = []
beforeAll(async () => {
  service = await startService({ PARLEY_API_KEY: apiKey, PARLEY_ALLOW_PRIVATE_NETWORKS: "127.0.0.1" })
})
afterAll(async () => {
  await service.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

describe("a session", { timeout: 90_000, concurrent: true }, () => {
  it("fails when nobody joins by its deadline, and its token is worth nothing then", async () => {
    const ticket = await open(service, await service.agent(silent))
    expect(await validate(ticket)).toBe(200)
    await askDatabase(service.data, "UPDATE sessions SET expires_at = now() WHERE id = $1", [ticket.session_id])
    const detail = await over(service, ticket)
    expect(endingOf(detail)).toBe("failed/room_join_timeout")
    expect(detail.started_at).toBeNull()
    expect(await validate(ticket)).toBe(401)
    await expect(joinCall(ticket)).rejects.toThrow()
  })

  it("fails when it is cancelled before anyone joins", async () => {
    const ticket = await open(service, await service.agent(silent))
    await service.api("POST", `/v1/agent/sessions/${ticket.session_id}/end`)
    expect(endingOf(await detailOf(service, ticket))).toBe("failed/cancelled")
    await service.api("POST", `/v1/agent/sessions/${ticket.session_id}/end`)
    expect(await validate(ticket)).toBe(401)
  })

  it("ends when the caller leaves, and cannot be joined again", async () => {
    const ticket = await open(service, await service.agent(silent))
    const caller = await listening(await joinCall(ticket))
    expect((await detailOf(service, ticket)).status).toBe("active")
    await caller.leave()
    expect(endingOf(await over(service, ticket))).toBe("completed/user_hangup")
    expect(await validate(ticket)).toBe(401)
    await expect(joinCall(ticket)).rejects.toThrow()
  })

  it("ends when the caller says so by a message", async () => {
    const ticket = await open(service, await service.agent(silent))
    const caller = await listening(await joinCall(ticket))
    await caller.send({ type: "user.hangup" })
    const detail = await over(service, ticket)
    await until("the caller is told", () => toldEnd(caller) === "user_hangup")
    expect(endingOf(detail)).toBe("completed/user_hangup")
    await caller.leave()
  })

  it("ends through the API, stored before the answer", async () => {
    const ticket = await open(service, await service.agent(silent))
    const caller = await listening(await joinCall(ticket))
    await converse(caller, "hello")
    await service.api("POST", `/v1/agent/sessions/${ticket.session_id}/end`)
    const detail = await detailOf(service, ticket)
    expect(endingOf(detail)).toBe("completed/agent_hangup")
    expect(detail.items.map((item) => item.role)).toEqual(["user", "assistant"])
    await until("the caller is told", () => toldEnd(caller) === "agent_hangup")
    await caller.leave()
  })

  it("ends when the agent hangs up, after its goodbye", async () => {
    const config = { ...silent, tools: { enabled: true, system_tools: { hang_up_call: true } } }
    const ticket = await open(service, await service.agent(config))
    const caller = await listening(await joinCall(ticket))
    await converse(caller, "goodbye")
    const detail = await over(service, ticket)
    expect(endingOf(detail)).toBe("completed/agent_hangup")
    expect(detail.items.at(-1)?.content).toMatch(/goodbye/i)
    await until("the caller is told", () => toldEnd(caller) === "agent_hangup")
    await caller.leave()
  })

  it("ends at its longest duration", async () => {
    const ticket = await open(service, await service.agent(silent))
    const shorten = "UPDATE sessions SET max_duration_seconds = 4 WHERE id = $1"
    await askDatabase(service.data, shorten, [ticket.session_id])
    const caller = await joinCall(ticket)
    await converse(caller, secretWords)
    const detail = await over(service, ticket)
    expect(endingOf(detail)).toBe("completed/conversation_timeout")
    expect(detail.duration_seconds).toBeGreaterThanOrEqual(3)
    await until("the caller is told", () => toldEnd(caller) === "conversation_timeout")
    await caller.leave()
  })

  it("ends on silence, with a farewell that is heard", async () => {
    const config = { ...silent, conversation: { hangup_after_seconds: 10, hangup_farewell_enabled: true } }
    const ticket = await open(service, await service.agent(config))
    const caller = await listening(await joinCall(ticket))
    const detail = await over(service, ticket, 40_000)
    expect(endingOf(detail)).toBe("completed/agent_hangup")
    // Four seconds of speech in tens of milliseconds, pauses not counted.
    expect(caller.heard.length).toBeGreaterThan(150)
    expect(detail.items.at(-1)?.content).toMatch(/hang up now\. Goodbye\.$/)
    await caller.leave()
  })

  it("ends when the caller's process dies", async () => {
    const ticket = await open(service, await service.agent(silent))
    const script = fileURLToPath(new URL("../../src/testing/callerProcess.ts", import.meta.url))
    const child = spawn(process.execPath, [script, JSON.stringify(ticket)], { stdio: ["ignore", "pipe", "ignore"] })
    const gone = once(child, "exit")
    await Promise.race([once(child.stdout, "data"), gone])
    expect((await detailOf(service, ticket)).status).toBe("active")
    child.kill("SIGKILL")
    await gone
    expect(endingOf(await over(service, ticket, 45_000))).toBe("completed/heartbeat_timeout")
  })

  it.each([500, 401])("ends when its model's endpoint answers %i three turns in a row", async (status) => {
    const chat = await chatServer(status)
    const custom = { base_url: chat.baseUrl, model: "m", api_key: "secret-of-the-endpoint" }
    // The analysis of the call would ask the endpoint too.
    const analysis = { summary: { enabled: false } }
    const ticket = await open(service, await service.agent({ ...silent, analysis, llm: { custom } }))
    const caller = await listening(await joinCall(ticket))
    const triesPerTurn = status === 500 ? 2 : 1
    for (let turn = 1; turn <= 3; turn++) {
      await caller.send({ type: "user.message", text: `question ${turn}` })
      await until("the endpoint was asked", () => chat.requests.length === turn * triesPerTurn)
      await until("the agent says that it has a problem", () => caller.state() === "speaking")
    }
    const detail = await over(service, ticket)
    expect(endingOf(detail)).toBe("completed/llm_endpoint_failure")
    expect(detail.items.at(-1)?.content).toMatch(/technical problem/)
    expect(chat.requests.length).toBe(3 * triesPerTurn)
    await until("the caller is told", () => toldEnd(caller) === "llm_endpoint_failure")
    await caller.leave()
  })

  it("goes on with the client that comes last with its token", async () => {
    const ticket = await open(service, await service.agent(silent))
    const first = await listening(await joinCall(ticket))
    await converse(first, "hello")
    const second = await listening(await joinCall(ticket))
    await until("the first is turned out", () => !first.room.isConnected)
    await converse(second, "what are your opening hours")
    await first.leave()
    expect((await detailOf(service, ticket)).status).toBe("active")
    await second.leave()
    const detail = await over(service, ticket)
    expect(endingOf(detail)).toBe("completed/user_hangup")
    expect(detail.items.filter((item) => item.role === "user").length).toBe(2)
  })

  it("ends when the service is stopped, told and stored", async () => {
    const data = mkdtempSync(join(tmpdir(), "parley-drained-"))
    folders.push(data)
    const drained = await startService({ PARLEY_DATA: data })
    const ticket = await open(drained, await drained.agent(silent))
    const caller = await listening(await joinCall(ticket))
    await converse(caller, "hello")
    const seen = statusesUntilGone(drained)
    await drained.stop()
    expect(await seen).toContain("draining")
    expect(drained.process.exitCode).toBe(0)
    await until("the caller is told", () => toldEnd(caller) === "agent_hangup")
    await caller.leave()
    const again = await startService({ PARLEY_DATA: data })
    const detail = await detailOf(again, ticket)
    await again.stop()
    expect(endingOf(detail)).toBe("completed/agent_hangup")
    expect(detail.items.map((item) => item.role)).toEqual(["user", "assistant"])
  })

  it("is settled after kill -9, with what was told until then", async () => {
    const data = mkdtempSync(join(tmpdir(), "parley-killed-"))
    folders.push(data)
    const killed = await startService({ PARLEY_DATA: data })
    const ticket = await open(killed, await killed.agent(silent))
    const caller = await listening(await joinCall(ticket))
    await converse(caller, "hello")
    await until("the answer is over", () => caller.state() === "listening")
    await new Promise((stored) => setTimeout(stored, 1000))
    await killed.kill()
    const again = await startService({ PARLEY_DATA: data })
    const detail = await detailOf(again, ticket)
    await caller.leave()
    await again.stop()
    expect(endingOf(detail)).toBe("completed/internal_error")
    expect(detail.items.map((item) => item.role)).toEqual(["user", "assistant"])
    expect(detail.items[0]?.content).toBe("hello")
    expect(detail.duration_seconds).toBeGreaterThanOrEqual(0)
  })
})

describe("what can be seen of these calls from outside", () => {
  it("are numbers in /metrics", async () => {
    const metrics = await fetch(`${service.url}/metrics`).then((answer) => answer.text())
    const value = (name: string) =>
      Number(
        metrics
          .split("\n")
          .find((line) => line.startsWith(`${name} `))
          ?.slice(name.length) ?? Number.NaN
      )
    const ended = (reason: string) => value(`parley_sessions_ended_total{end_reason="${reason}"}`)
    expect(value("parley_calls_live")).toBe(0)
    expect(ended("room_join_timeout")).toBe(1)
    expect(ended("cancelled")).toBe(1)
    expect(ended("user_hangup")).toBe(3)
    expect(ended("agent_hangup")).toBe(3)
    expect(ended("conversation_timeout")).toBe(1)
    expect(ended("heartbeat_timeout")).toBe(1)
    expect(ended("llm_endpoint_failure")).toBe(2)
    const turns = value("parley_voice_to_voice_seconds_count")
    expect(turns).toBeGreaterThanOrEqual(5)
    for (const wait of ["endpointing", "asr_final", "llm_first_token", "phrase", "tts_first_audio", "playout"]) {
      expect(value(`parley_turn_wait_seconds_count{wait="${wait}"}`)).toBe(turns)
    }
    for (const secret of secrets) expect(metrics).not.toContain(secret)
  })

  it("is nothing in the log that a caller said or an agent knows", () => {
    // Text of its own is there, so that the test cannot pass on an empty log.
    expect(service.log()).toContain("Parley is ready.")
    for (const secret of secrets) expect(service.log()).not.toContain(secret)
  })
})
