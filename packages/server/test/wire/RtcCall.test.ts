// A whole call from outside: the service as it is started, the unmodified LiveKit client for Node, real
// speech, the embedded engines. Three turns, one interruption, a hang-up, and the record of it.
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { findPocketSphinx } from "@parley/speech/pocketsphinx/PocketSphinxInstallation"
import { joinCall, until } from "../../src/testing/RtcCaller.ts"
import { type RunningService, startService } from "../../src/testing/RunningService.ts"

interface Detail {
  readonly status: string
  readonly end_reason: string
  readonly items: ReadonlyArray<{
    readonly type: string
    readonly role: string
    readonly content: string
    readonly turn_id: string
  }>
  readonly latency: ReadonlyArray<Record<string, number>>
}

const deaf = findPocketSphinx() === undefined
if (deaf && process.env["CI"] === "true")
  throw new Error("PocketSphinx is missing: install libpocketsphinx3 and pocketsphinx-en-us")

describe.skipIf(deaf)("a call by rtc-node on the embedded engines (needs PocketSphinx)", { timeout: 120_000 }, () => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.stop())

  it("holds three turns with an interruption, and keeps what was heard", async () => {
    const agent_id = await service.agent({
      prompt: { system_prompt: "You are a receptionist.", first_message_mode: "prompt" },
      voice: { voice_id: "slt" }
    })
    const ticket = await service.api<{ session_id: string; rtc_url: string; token: string }>(
      "POST",
      "/v1/agent/sessions",
      { agent_id }
    )
    const caller = await joinCall(ticket)
    const session = () => service.api<Detail>("GET", `/v1/agent/sessions/${ticket.session_id}`)
    await until("the agent greets", () => caller.heard.length > 100)
    await until("the greeting is over", () => caller.state() === "listening")

    const answered = async (text: string): Promise<void> => {
      const before = caller.heard.length
      await caller.say(text)
      await until(`an answer to: ${text}`, () => caller.state() === "speaking" && caller.heard.length > before + 20)
    }
    await answered("I would like to book an appointment")
    await until("the answer is over", () => caller.state() === "listening")
    await answered("on monday morning")
    // In the middle of the answer.
    await answered("wait what are your opening hours")
    await until("the answer is over", () => caller.state() === "listening")
    await caller.leave()
    let detail = await session()
    for (let i = 0; i < 100 && detail.status !== "completed"; i++) {
      await new Promise((tick) => setTimeout(tick, 50))
      detail = await session()
    }
    expect(detail.status).toBe("completed")
    expect(detail.end_reason).toBe("user_hangup")
    const spoken = detail.items.map((item) => `${item.role}: ${item.content}`)
    expect(detail.items.filter((item) => item.role === "user").length).toBeGreaterThanOrEqual(3)
    expect(spoken.join("\n")).toMatch(/user: .*appointment/)
    // The second answer was cut in the middle; the record has what was heard of it.
    const cut = detail.items.findIndex((item) => item.role === "user" && item.content.includes("opening hours")) - 1
    expect("Monday in the morning. What is your name, please?".startsWith(detail.items[cut]?.content ?? "?")).toBe(true)
    expect(detail.items[cut]?.content.length).toBeLessThan(40)
    expect(detail.latency.length).toBeGreaterThanOrEqual(3)
    for (const turn of detail.latency) {
      const { total_ms: total = 0, ...waits } = turn
      const sum = Object.entries(waits).reduce((all, [key, value]) => (key.endsWith("_ms") ? all + value : all), 0)
      expect(Math.abs(sum - total)).toBeLessThanOrEqual(5)
    }
    // The captions are the record.
    const finals = caller.captions.filter((caption) => caption.final || !caption.identity.startsWith("user"))
    expect(finals.length).toBeGreaterThan(3)
  })
})
