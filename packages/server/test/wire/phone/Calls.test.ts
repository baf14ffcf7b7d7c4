// Telephone calls through the whole service: taken, placed, handed over; with a scripted model and the embedded voice.
import * as FakeChat from "@parley/llm/testing/FakeChatServer"
import { Effect, Exit, Scope } from "effect"
import { createServer } from "node:http"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type RunningService, startService } from "../../../src/testing/RunningService.ts"
import { type Exchange, freePort, importNumber, number, openExchange } from "./PhonePeers.ts"

interface Session {
  readonly session_id: string
  readonly status: string
  readonly end_reason: string | null
  readonly direction: string
  readonly dial_status: string | null
  readonly caller_number: string
  readonly dialed_number: string
  readonly items: ReadonlyArray<{ readonly type: string; readonly role?: string; readonly content?: string }>
}

const told: Array<{ readonly event: string; readonly session: { readonly id: string } }> = []
const receiver = createServer((request, response) => {
  let body = ""
  request.on("data", (data: Buffer) => (body += data.toString()))
  request.on("end", () => {
    told.push(JSON.parse(body) as (typeof told)[number])
    response.writeHead(200).end()
  })
})

const eventsOf = (id: string) => told.filter(({ session }) => session.id === id).map(({ event }) => event)
const eventually = (what: () => unknown, timeout = 30_000) => expect.poll(what, { timeout, interval: 100 })

describe("telephone calls", { timeout: 90_000 }, () => {
  const scope = Effect.runSync(Scope.make())
  let script: Array<FakeChat.ChatBehaviour> = []
  let service: RunningService
  let exchange: Exchange
  let sip = 0
  let agent = ""
  let answer: 486 | 480 | "answer" = "answer"

  const latest = async (): Promise<Session> => {
    const { sessions } = await service.api<{ sessions: ReadonlyArray<Session> }>("GET", "/v1/agent/sessions")
    return service.api("GET", `/v1/agent/sessions/${sessions[0]?.session_id}`)
  }
  const configure = async (conversation: Record<string, unknown>): Promise<void> => {
    await service.api("PATCH", `/v1/agent/agents/${agent}/config`, { conversation })
    await service.api("POST", `/v1/agent/agents/${agent}/publish`)
  }

  beforeAll(async () => {
    receiver.listen(0, "127.0.0.1")
    await once(receiver, "listening")
    const chat = await Effect.runPromise(
      Scope.provide(
        FakeChat.make(() => script.shift() ?? { kind: "say", text: "All right." }),
        scope
      )
    )
    sip = await freePort()
    exchange = await openExchange(() => answer)
    service = await startService({ PARLEY_SIP_PORT: String(sip), PARLEY_ALLOW_PRIVATE_NETWORKS: "127.0.0.0/8" })
    agent = await service.agent({
      prompt: { first_message_mode: "fixed", first_message: "Welcome to the clinic, how can I help?" },
      analysis: { summary: { enabled: false } },
      llm: { custom: { base_url: chat.baseUrl, model: "m", api_key: "k" } },
      webhooks: { post_call: [{ url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/` }] }
    })
    await importNumber(service, agent, exchange.port)
  }, 60_000)
  afterAll(async () => {
    await exchange?.server.close()
    await service?.stop()
    await Effect.runPromise(Scope.close(scope, Exit.void))
    receiver.closeAllConnections()
    receiver.close()
  })

  it("says where its telephone is", () => {
    expect(service.log()).toContain(`sip:127.0.0.1:${sip}`)
  })

  it("takes a call, greets, hears keys, and keeps the record", async () => {
    script = [{ kind: "say", text: "You pressed one and two." }]
    const caller = await exchange.call(sip)
    await eventually(() => caller.loud()).toBeGreaterThan(10)
    caller.forget()
    caller.leg.telephone.sendDigits("12#")
    await eventually(async () => (await latest()).items.some(({ content }) => content === "[keypad] 12")).toBe(true)
    await eventually(() => caller.loud()).toBeGreaterThan(10)
    caller.hangUp()
    await eventually(async () => (await latest()).status).toBe("completed")
    expect(await latest()).toMatchObject({
      direction: "inbound",
      end_reason: "user_hangup",
      caller_number: "+14155550111",
      dialed_number: number
    })
    const { session_id } = await latest()
    await eventually(() => eventsOf(session_id)).toEqual(["call.ended", "call.analyzed"])
    const { lines } = await service.api<{ lines: ReadonlyArray<{ what: string }> }>(
      "GET",
      `/v1/agent/sessions/${session_id}/sip-trace`
    )
    expect(lines.map(({ what }) => what)).toEqual(expect.arrayContaining(["INVITE", "200 OK", "ACK", "BYE"]))
  })

  it("places a call, and tells how the dial resolved before anything else", async () => {
    script = []
    const numbers = await service.api<{ phone_numbers: ReadonlyArray<{ phone_number_id: string }> }>(
      "GET",
      "/v1/agent/phone-numbers"
    )
    const body = {
      agent_id: agent,
      phone_number_id: numbers.phone_numbers[0]?.phone_number_id,
      to_number: "+14155550177"
    }
    const placed = await service.api<{ session_id: string; status: string }>("POST", "/v1/agent/phone-calls", body)
    expect(placed.status).toBe("queued")
    await eventually(() => exchange.answered.length).toBe(1)
    const callee = exchange.answered.pop()
    await eventually(() => callee?.loud()).toBeGreaterThan(10)
    expect(await latest()).toMatchObject({ direction: "outbound", dial_status: "answered", status: "active" })
    callee?.hangUp()
    await eventually(() => eventsOf(placed.session_id)).toEqual([
      "phone_call.dial_finished",
      "call.ended",
      "call.analyzed"
    ])
    answer = 486
    const busy = await service.api<{ session_id: string }>("POST", "/v1/agent/phone-calls", body)
    await eventually(async () => (await latest()).dial_status).toBe("busy")
    expect(await latest()).toMatchObject({ status: "failed", end_reason: "dial_failed" })
    await eventually(() => eventsOf(busy.session_id)).toEqual(["phone_call.dial_finished"])
    answer = "answer"
  })

  it("hands a caller over to a colleague who agrees by key, and lets both talk", async () => {
    await configure({
      transfer_destinations: [
        { type: "sip", label: "Sales", sip_uri: `sip:sales@127.0.0.1:${exchange.port}`, mode: "warm" }
      ]
    })
    script = [
      { kind: "tool", name: "transfer_call", arguments: "{}" },
      { kind: "say", text: "A caller for you." }
    ]
    const caller = await exchange.call(sip)
    await eventually(() => caller.loud()).toBeGreaterThan(10)
    caller.leg.telephone.sendDigits("0#")
    await eventually(() => exchange.answered.length).toBe(1)
    const colleague = exchange.answered.pop()
    await eventually(() => colleague?.loud()).toBeGreaterThan(10)
    // Keys are heard whenever the question is open; until then they are nothing.
    for (let tries = 0; tries < 20; tries++) {
      colleague?.leg.telephone.sendDigits("1")
      await new Promise((rest) => setTimeout(rest, 1_000))
      caller.forget()
      colleague?.makeNoise(600)
      await new Promise((rest) => setTimeout(rest, 900))
      if (caller.loud() > 20) break
    }
    colleague?.forget()
    caller.makeNoise(1_000)
    await eventually(() => colleague?.loud()).toBeGreaterThan(20)
    colleague?.hangUp()
    await eventually(async () => (await latest()).end_reason).toBe("escalated")
    await eventually(() => caller.over()).toBe(true)
    // Both sides and the colleague, each on a track of their own.
    const { session_id } = await latest()
    const recording = () =>
      service.api<{ status: string; tracks: ReadonlyArray<{ role: string; duration_ms: number | null }> }>(
        "GET",
        `/v1/agent/sessions/${session_id}/recording`
      )
    await eventually(async () => (await recording()).status).toBe("complete")
    const { tracks } = await recording()
    expect(tracks.map(({ role }) => role).toSorted()).toEqual(["agent", "human", "user"])
    for (const { duration_ms } of tracks) expect(duration_ms).toBeGreaterThan(1_000)
  })

  it("rings busy for a number that nobody answers, and refuses one it has not", async () => {
    const { phone_numbers } = await service.api<{ phone_numbers: ReadonlyArray<{ phone_number_id: string }> }>(
      "GET",
      "/v1/agent/phone-numbers"
    )
    const path = `/v1/agent/phone-numbers/${phone_numbers[0]?.phone_number_id}`
    await service.api("PATCH", path, { agent_id: null })
    await expect(exchange.call(sip)).rejects.toThrow("busy, 486")
    await service.api("DELETE", path)
    await expect(exchange.call(sip)).rejects.toThrow("failed, 404")
  })
})
