// A real browser that publishes as soon as it has joined, several times over: whether both sides are heard must not depend
// on which of the first offers comes when.
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bundle, skipBrowser, startBrowser, type TestBrowser } from "./Browser.ts"
import { agentHears, call, pageHears, stateOf } from "./ChromiumPage.ts"
import { startHost, type Host, type HostCall } from "./Host.ts"
import { until } from "./tone.ts"

describe.skipIf(skipBrowser)("livekit-client in Chromium, again and again", () => {
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

  // Refused sections make the browser forget transceivers that an offer under way still names.
  it.each([
    { how: "joins and publishes at once", overlap: false },
    { how: "makes its second offer while it is still setting the first", overlap: true }
  ])(
    "is heard and hears, five times over, when it $how",
    async ({ overlap }) => {
      for (let round = 0; round < 5; round++) {
        const name = `quick-${overlap}-${round}`
        const page = await browser.open(host.url.replace("ws", "http"))
        const faults: Array<string> = []
        page.on("console", (message) => {
          if (/not able to set|unable to set|negotiation|Transceiver not found/i.test(message.text()))
            faults.push(message.text().slice(0, 300))
        })
        await call(page, "start", { url: host.url, token: await host.token(name), single: true, mic: true, overlap })
        await until("the leg is handed over", () => host.calls.has(name))
        await agentHears(host.calls.get(name) as HostCall)
        await pageHears(page)
        const { errors, overlapped, reconnected } = await stateOf(page)
        expect({ errors, faults, overlapped, reconnected }).toEqual({
          errors: [],
          faults: [],
          overlapped: overlap ? 1 : 0,
          reconnected: 0
        })
        await call(page, "leave")
        await page.context().close()
      }
      await until("everything is released", () => host.server.stats().calls === 0)
    },
    90_000
  )
})
