// The browser SDK in a real browser against the real WebRTC server.
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bundle, skipBrowser, startBrowser, type TestBrowser } from "../../transport/test/wire/Browser.ts"
import { startHost, type Host, type HostCall } from "../../transport/test/wire/Host.ts"
import { until } from "../../transport/test/wire/tone.ts"

type Log = ReadonlyArray<readonly [name: string, payload: Record<string, unknown>]>

const call = <A>(page: Page, method: string, ...args: ReadonlyArray<unknown>): Promise<A> =>
  page.evaluate(([name, rest]) => Reflect.get(Reflect.get(globalThis, "app"), name)(...rest), [method, args] as const)
const told = async (page: Page, name: string): Promise<ReadonlyArray<Record<string, unknown>>> =>
  (await call<Log>(page, "log")).flatMap(([event, payload]) => (event === name ? [payload] : []))

describe.skipIf(skipBrowser)("AgentSession in Chromium", () => {
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

  const open = (): Promise<Page> => browser.open(host.url.replace("ws", "http"))
  const ticket = async (name: string, more: object = {}) => ({
    session: { session_id: name, token: await host.token(name), rtc_url: host.url, transport: "livekit", ...more }
  })
  const join = async (
    name: string,
    options: object = {}
  ): Promise<{ readonly page: Page; readonly hosted: HostCall }> => {
    const page = await open()
    expect(await call(page, "start", { ...(await ticket(name)), ...options })).toBe("started")
    const hosted = host.calls.get(name)
    if (hosted === undefined) throw new Error("no call")
    return { page, hosted }
  }

  it("talks, types, reads along, answers tools, and hangs up", async () => {
    const { hosted, page } = await join("session")
    expect(await told(page, "connect")).toEqual([{ sessionId: "session" }])
    expect((await told(page, "statusChange")).map(({ status }) => status)).toEqual(["connecting", "connected"])
    await until("both are heard", async () => {
      const { input, output } = await call<{ input: number; output: number }>(page, "volumes")
      return input > 0.1 && output > 0.1
    })
    expect(await call(page, "spectrum")).toBe(512)

    hosted.leg.tell({ _tag: "State", state: "speaking" })
    await until("the mode", async () => (await told(page, "modeChange")).some(({ mode }) => mode === "speaking"))
    hosted.leg.tell({ _tag: "UserTranscript", segmentId: "u1", text: "hel", final: false })
    hosted.leg.tell({ _tag: "UserTranscript", segmentId: "u1", text: "hello", final: true })
    for (const delta of ["Good ", "day."]) hosted.leg.tell({ _tag: "AgentDelta", segmentId: "a1", delta })
    hosted.leg.tell({ _tag: "AgentDone", segmentId: "a1" })
    await until("the response", async () => (await told(page, "agentResponse")).length === 1)
    expect(await told(page, "userTranscript")).toEqual([
      { segmentId: "u1", text: "hel", final: false },
      { segmentId: "u1", text: "hello", final: true }
    ])
    expect((await told(page, "agentResponseDelta")).at(-1)).toMatchObject({ segmentId: "a1", text: "Good day." })
    expect(await told(page, "agentResponse")).toEqual([{ segmentId: "a1", text: "Good day." }])

    await call(page, "do", "sendUserMessage", "typed")
    await call(page, "do", "sendUserActivity")
    await call(page, "do", "interrupt")
    await until("what was sent", () => hosted.events.length === 3)
    expect(hosted.events).toEqual([
      { type: "user.message", text: "typed", audio: false },
      { type: "user.activity" },
      { type: "user.interrupt" }
    ])
    expect(await call(page, "do", "getTranscript")).toEqual([
      { role: "user", text: "hello" },
      { role: "agent", text: "Good day." },
      { role: "user", text: "typed" }
    ])

    for (const [callId, toolName, params] of [
      ["1", "add", { a: 1, b: 2 }],
      ["2", "nobody", {}],
      ["3", "hang", {}]
    ] as const) {
      hosted.leg.tell({
        _tag: "Event",
        event: { type: "client_tool.call", callId, toolName, params, expectsResponse: true }
      })
    }
    await until("three answers", () => hosted.events.length === 6)
    expect(hosted.events.slice(3)).toMatchObject([
      { callId: "1", result: 3 },
      { callId: "2", isError: true },
      { callId: "3", isError: true }
    ])
    expect((await told(page, "error")).map(({ code }) => code)).toEqual(["tool_failed", "tool_timeout"])

    await call(page, "do", "setMicMuted", true)
    await until("muted", async () => (await call(page, "get", "micMuted")) === true)
    await call(page, "do", "setMicMuted", false)

    host.cutSockets()
    await until("back", async () =>
      (await told(page, "statusChange"))
        .map(({ status }) => status)
        .join()
        .endsWith("reconnecting,connected")
    )
    hosted.leg.tell({ _tag: "State", state: "listening" })
    await until("told after the resume", async () => (await call(page, "get", "mode")) === "listening")

    await call(page, "do", "end")
    expect(await told(page, "disconnect")).toEqual([{ reason: "user_hangup" }])
    await until("the hang-up", () => hosted.events.at(-1)?.type === "user.hangup")
    await until("the leave", () => hosted.closed === "left")
    await page.context().close()
  }, 60_000)

  it("says why the agent hung up", async () => {
    const { hosted, page } = await join("timeout", { microphone: false })
    hosted.leg.close("conversation_timeout")
    await until("disconnected", async () => (await told(page, "disconnect")).length === 1)
    expect(await told(page, "disconnect")).toEqual([{ reason: "conversation_timeout" }])
    expect(await call(page, "get", "endReason")).toBe("conversation_timeout")
    await page.context().close()
  })

  it("refuses clearly: expired, unknown transport, a bad token, nothing at all", async () => {
    const page = await open()
    const codes = [
      await call(page, "start", await ticket("x", { expires_at: "2020-01-01T00:00:00Z" })),
      await call(page, "start", await ticket("x", { transport: "pigeon" })),
      await call(page, "start", await ticket("x", { token: "junk" })),
      await call(page, "start", {})
    ]
    expect(codes).toEqual(["session_expired", "unsupported_transport", "connection_failed", "session_request_failed"])
    await page.context().close()
  })

  it("says when the microphone is refused", async () => {
    const page = await open()
    await page.evaluate(() => {
      const devices = Reflect.get(Reflect.get(globalThis, "navigator"), "mediaDevices")
      devices.getUserMedia = () => Promise.reject(new DOMException("denied", "NotAllowedError"))
    })
    expect(await call(page, "start", await ticket("denied"))).toBe("mic_permission_denied")
    await page.context().close()
  })
})
