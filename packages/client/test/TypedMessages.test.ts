// What is typed while the connection breaks arrives, once. The service is cut off in the middle of publishing the
// microphone, for none or some of the SDK's attempts to come back. MESSAGE_ROUNDS=50 is the long form.
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bundle, skipBrowser, startBrowser, type TestBrowser } from "../../transport/test/wire/Browser.ts"
import { startHost, type Host } from "../../transport/test/wire/Host.ts"
import { until } from "../../transport/test/wire/tone.ts"

type Log = ReadonlyArray<readonly [name: string, payload: Record<string, unknown>]>

const call = <A>(page: Page, method: string, ...args: ReadonlyArray<unknown>): Promise<A> =>
  page.evaluate(([name, rest]) => Reflect.get(Reflect.get(globalThis, "app"), name)(...rest), [method, args] as const)

const rounds = Number(process.env["MESSAGE_ROUNDS"] ?? 2)
const downMs = [300, 1_200, 0, 2_500]

describe.skipIf(skipBrowser)("typed messages and a connection that breaks", () => {
  let script: string
  let browser: TestBrowser
  const hosts: Array<Host> = []
  beforeAll(async () => {
    script = await bundle(new URL("page.js", import.meta.url).pathname)
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await Promise.all(hosts.map((host) => host.close()))
  })

  // At the same time, since most of a round is waiting for the SDK: each with a service of its own to cut off.
  it.concurrent.each(
    Array.from({ length: rounds }, (_, round) => ({ round, down: downMs[round % downMs.length] ?? 0 }))
  )(
    "round $round: the service is away for $down ms, and what was typed arrives once and in order",
    async ({ down, round }) => {
      const name = `typed-${round}`
      const host = await startHost({}, script)
      hosts.push(host)
      const page = await browser.open(host.url.replace("ws", "http"))
      const ticket = { session_id: name, token: await host.token(name), rtc_url: host.url }
      expect(await call(page, "start", { session: ticket, microphone: false })).toBe("started")
      const statuses = async () =>
        (await call<Log>(page, "log"))
          .flatMap(([event, { status }]) => (event === "statusChange" ? [status] : []))
          .join()
      const published = call(page, "do", "setMicMuted", false).catch(() => undefined)
      await new Promise((rest) => setTimeout(rest, (round * 7) % 150))
      host.cutSockets()
      const cutting = setInterval(() => host.cutSockets(), 20)
      const isUp = new Promise((up) => setTimeout(up, down)).then(() => clearInterval(cutting))
      await until("away", async () => (await statuses()).endsWith("reconnecting"), 20_000)
      await call(page, "do", "sendUserMessage", "while away")
      await isUp
      await until("back", async () => (await statuses()).endsWith("reconnecting,connected"), 20_000)
      await call(page, "do", "sendUserMessage", "when back")
      const texts = () =>
        (host.calls.get(name)?.events ?? []).flatMap((event) => (event.type === "user.message" ? [event.text] : []))
      await until("both messages", () => texts().includes("when back"), 45_000)
      await published
      expect(texts()).toEqual(["while away", "when back"])
      await page.context().close()
    },
    120_000
  )
})
