// A real browser with the unmodified livekit-client against the server, in both modes.
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bundle, micHz, skipBrowser, startBrowser, type TestBrowser } from "./Browser.ts"
import { agentHears, call, pageHears, stateOf } from "./ChromiumPage.ts"
import { startHost, type Host } from "./Host.ts"
import { until } from "./tone.ts"

describe.skipIf(skipBrowser)("livekit-client in Chromium", () => {
  let host: Host
  let browser: TestBrowser
  beforeAll(async () => {
    host = await startHost({}, await bundle(new URL("page.js", import.meta.url).pathname))
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await host?.close()
  })

  const join = async (name: string, options: { readonly single: boolean; readonly mic: boolean }) => {
    const page = await browser.open(host.url.replace("ws", "http"))
    await call(page, "start", { url: host.url, token: await host.token(name), ...options })
    await until("the leg is handed over", () => host.calls.has(name))
    const hosted = host.calls.get(name)
    if (hosted === undefined) throw new Error("no call")
    return { page, hosted }
  }

  describe.each([
    { mode: "single", single: true },
    { mode: "dual", single: false }
  ])("$mode peer connection", ({ mode, single }) => {
    it("talks, types, reads captions, resumes, reconnects in full and is told the end", async () => {
      const { hosted, page } = await join(`all-${mode}`, { single, mic: true })
      await agentHears(hosted)
      await pageHears(page)

      await until("the agent's state", async () => {
        const agent = await call<{ isAgent: boolean; attributes: Record<string, string> }>(page, "agent")
        return agent.isAgent && agent.attributes["lk.agent.state"] === "listening"
      })
      await call(page, "publish", { type: "user.message", text: "hello", audio: true })
      await until("the typed message", () => hosted.events.length > 0)
      hosted.leg.tell({ _tag: "UserTranscript", segmentId: "u1", text: "hello you", final: true })
      for (const delta of ["Good ", "day."]) hosted.leg.tell({ _tag: "AgentDelta", segmentId: "a1", delta })
      hosted.leg.tell({ _tag: "AgentDone", segmentId: "a1" })
      hosted.leg.tell({ _tag: "Event", event: { type: "error", code: "provider_error" } })
      await until("captions and event", async () => {
        const { events, texts } = await stateOf(page)
        return events.length === 1 && texts.filter(({ ended }) => ended).length === 2
      })
      expect((await stateOf(page)).texts.map(({ text }) => text)).toEqual(["hello you", "Good day."])
      expect(await call(page, "rpc")).toMatch(/not supported/i)

      for (let round = 1; round <= 3; round++) {
        host.cutSockets()
        await until("resumed", async () => (await stateOf(page)).reconnected === round, 20_000)
        await agentHears(hosted)
        await pageHears(page)
      }
      await call(page, "simulate", "full-reconnect")
      await until("reconnected in full", async () => (await stateOf(page)).reconnected === 4, 20_000)
      await agentHears(hosted)
      await pageHears(page)
      const typed = hosted.events.length
      await call(page, "publish", { type: "user.message", text: "still there?", audio: true })
      await until("the typed message after it", () => hosted.events.length > typed)
      expect(hosted.closed).toBeUndefined()
      expect(host.server.stats().calls).toBe(1)

      hosted.leg.close("conversation_timeout")
      await until("disconnected", async () => (await stateOf(page)).disconnected.length === 1)
      const { disconnected, errors, events } = await stateOf(page)
      expect(disconnected).toEqual([5])
      expect(events.at(-1)).toEqual({ type: "session.ended", reason: "conversation_timeout" })
      expect(errors).toEqual([])
      await until("everything is released", () => host.server.stats().calls === 0)
      await page.context().close()
    }, 120_000)

    it("joins without a microphone, on mDNS names alone, and may speak later", async () => {
      const { hosted, page } = await join(`mute-${mode}`, { single, mic: false })
      await pageHears(page)
      await call(page, "enableMic")
      await agentHears(hosted)
      await call(page, "mute", true)
      await until("silence", () => hosted.ears.level(micHz) < 0.01)
      const frames = hosted.frames
      await until("silence is heard, not nothing", () => hosted.frames > frames + 25)
      await call(page, "mute", false)
      await agentHears(hosted)
      await call(page, "unpublish")
      await until("silence", () => hosted.ears.level(micHz) < 0.01)
      await call(page, "enableMic")
      await agentHears(hosted)
      await call(page, "leave")
      await until("left", () => hosted.closed === "left")
      await until("everything is released", () => host.server.stats().calls === 0)
      await page.context().close()
    }, 90_000)
  })

  it("says clearly why a token is refused", async () => {
    const page = await browser.open(host.url.replace("ws", "http"))
    const failure = call(page, "start", { url: host.url, token: "junk", single: true, mic: false })
    await expect(failure).rejects.toThrow(/token refused: malformed/)
    await page.context().close()
  })
})
