// The console as a person uses it: the service as it is started, a real browser, a microphone that speaks.
// The conversation runs on the embedded engines; what goes wrong must be said in words.
import { respond } from "@parley/llm/demo/respond"
import { findPocketSphinx } from "@parley/speech/pocketsphinx/PocketSphinxInstallation"
import { speakToWav } from "@parley/speech/testing/speakToWav"
import { createServer } from "node:http"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type RunningService, startService } from "../../server/src/testing/RunningService.ts"
import { buildConsole } from "./buildConsole.ts"
import { type Chromium, chromiumPath, startChromium } from "./Chromium.ts"
import { startProxy } from "./Proxy.ts"

interface Detail {
  readonly status: string
  readonly end_reason: string
  readonly items: ReadonlyArray<{ readonly role: string; readonly content: string; readonly turn_id: string }>
  readonly latency: ReadonlyArray<Record<string, unknown>>
}

const isCi = process.env["CI"] === "true"
const noBrowser = chromiumPath === undefined
const deaf = findPocketSphinx() === undefined
if (isCi && noBrowser) throw new Error("Chromium is missing: install chromium")
if (isCi && deaf) throw new Error("PocketSphinx is missing: install libpocketsphinx3 and pocketsphinx-en-us")

const silence = (seconds: number): Int16Array => new Int16Array(seconds * 16_000)
const inOne = (...parts: ReadonlyArray<Int16Array>): Int16Array => {
  const out = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}

const signIn = async (page: Page, key: string): Promise<void> => {
  await page.getByLabel("API key").fill(key)
  await page.getByRole("button", { name: "Sign in" }).click()
}
const click = (page: Page, name: string): Promise<void> => page.getByRole("button", { name, exact: true }).click()
const alertSays = (page: Page, words: RegExp): Promise<void> =>
  page.getByRole("alert").filter({ hasText: words }).first().waitFor({ timeout: 30_000 })
const stateSays = (page: Page, words: RegExp): Promise<void> =>
  page.getByLabel("Conversation").getByRole("status").filter({ hasText: words }).waitFor({ timeout: 30_000 })
const captionSays = (page: Page, who: "user" | "agent", words: RegExp, ms = 30_000): Promise<void> =>
  page.locator(`.captions li.final.${who}`, { hasText: words }).first().waitFor({ timeout: ms })

/** The last session, once it is over. */
const settled = async (service: RunningService): Promise<Detail> => {
  for (let round = 0; ; round++) {
    const { sessions } = await service.api<{ sessions: ReadonlyArray<{ session_id: string; status: string }> }>(
      "GET",
      "/v1/agent/sessions"
    )
    const last = sessions[0]
    if (last !== undefined && (last.status === "completed" || round === 100))
      return service.api<Detail>("GET", `/v1/agent/sessions/${last.session_id}`)
    await new Promise((tick) => setTimeout(tick, 50))
  }
}

/** Notes how loud the page's audio element is, ten times a second, from now on; a reconnect brings another stream. */
const listen = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const levels: Array<number> = []
    Reflect.set(globalThis, "levels", levels)
    const document = Reflect.get(globalThis, "document")
    const context = new (Reflect.get(globalThis, "AudioContext"))()
    const analyser = context.createAnalyser()
    analyser.smoothingTimeConstant = 0
    const samples = new Float32Array(analyser.fftSize)
    let heard: unknown
    let source: { readonly connect: (to: unknown) => void; readonly disconnect: () => void } | undefined
    setInterval(() => {
      const stream = document.querySelector("audio")?.srcObject
      if (!stream) return
      const track = stream.getAudioTracks()[0]
      if (track !== undefined && track !== heard) {
        source?.disconnect()
        heard = track
        source = context.createMediaStreamSource(stream)
        source?.connect(analyser)
      }
      analyser.getFloatTimeDomainData(samples)
      levels.push(Math.max(...samples.map(Math.abs)))
    }, 100)
  })
const heardSeconds = (page: Page): Promise<number> =>
  page.evaluate(() => Reflect.get(globalThis, "levels").filter((level: number) => level > 0.02).length / 10)

const quiet = { prompt: { system_prompt: "You are a receptionist.", first_message_mode: "off" } }

describe.skipIf(noBrowser)("the console (needs Chromium)", { timeout: 150_000 }, () => {
  let service: RunningService
  beforeAll(async () => {
    await buildConsole()
    service = await startService()
  })
  afterAll(() => service?.stop())

  const inBrowser = async (
    microphone: Int16Array | "refused",
    use: (page: Page, browser: Chromium) => Promise<void>,
    url = service.url
  ): Promise<void> => {
    const browser = await startChromium(microphone)
    try {
      const page = await browser.open(`${url}/`)
      page.setDefaultTimeout(30_000)
      const faults: Array<string> = []
      page.on("pageerror", (error) => faults.push(error.message))
      const log: Array<string> = []
      page.on("console", (message) => log.push(`${message.type()}: ${message.text().slice(0, 300)}`))
      page.on("console", (message) => /Content Security Policy/.test(message.text()) && faults.push(message.text()))
      await use(page, browser).catch(async (error: unknown) => {
        const shown = await page
          .getByLabel("Conversation")
          .innerText({ timeout: 1_000 })
          .catch(() => "nothing")
        throw new Error(`${String(error)}\nThe page showed: ${shown}\n${log.join("\n")}`, { cause: error })
      })
      expect(faults).toEqual([])
    } finally {
      await browser.close()
    }
  }

  it.skipIf(deaf)("makes an agent and holds a conversation of three turns with it (needs PocketSphinx)", async () => {
    const microphone = inOne(
      silence(1.5),
      speakToWav("what can you do"),
      silence(4),
      // In the middle of the answer.
      speakToWav("I would like an appointment on monday"),
      silence(6),
      speakToWav("at ten in the morning"),
      silence(20)
    )
    await inBrowser(microphone, async (page) => {
      await signIn(page, service.key)
      await click(page, "New agent")
      await page.getByLabel("Name").fill("Front desk")
      await page.getByLabel("Prompt").fill("You are the receptionist of Doctor Green.")
      await page.getByLabel("Opening").selectOption({ label: "The caller speaks first" })
      await page.getByLabel("Voice").selectOption("awb")
      await page.getByLabel("Agents").getByText("Front desk").waitFor()
      await click(page, "Publish")
      await page.getByText("Version 1 is live.").waitFor()

      await listen(page)
      await click(page, "Call the agent")
      await stateSays(page, /Connected:.*listening/)
      await stateSays(page, /speaking/)
      await captionSays(page, "user", /appointment/)
      await captionSays(page, "user", /ten|morning/)
      await captionSays(page, "agent", /name, please/)
      expect(await page.locator(".captions li.final.user").count()).toBeGreaterThanOrEqual(3)
      expect(await page.locator(".waterfall ol li").count()).toBeGreaterThanOrEqual(3)
      expect(await heardSeconds(page)).toBeGreaterThan(3)
      const captions = await page.locator(".captions li.final").allInnerTexts()
      await click(page, "Hang up")
      await page.getByText("The call is over: you hung up.").waitFor()

      const { end_reason, items, latency, status } = await settled(service)
      expect([status, end_reason]).toEqual(["completed", "user_hangup"])
      const { agents } = await service.api<{ agents: ReadonlyArray<{ agent_id: string }> }>("GET", "/v1/agent/agents")
      const config = await service.api("GET", `/v1/agent/agents/${agents[0]?.agent_id}/config`)
      expect(config).toMatchObject({
        prompt: { system_prompt: "You are the receptionist of Doctor Green." },
        voice: { voice_id: "awb" }
      })
      // Both sides read what is kept.
      expect(captions.map((caption) => caption.split("\n").at(-1)?.trim())).toEqual(items.map((item) => item.content))

      // What the host said to the first sentence goes on; what is kept of it stops where the caller spoke.
      const first = items.find((item) => item.role === "user")
      const cut = items.find((item) => item.role === "assistant")
      const whole = respond({
        messages: [{ role: "user", content: first?.content ?? "" }],
        tools: [],
        extra: {}
      })[0]
      const said = whole?._tag === "Text" ? whole.text : ""
      expect(cut?.content.length).toBeGreaterThan(5)
      expect(cut?.content.length).toBeLessThan(said.length)
      expect(said.startsWith(cut?.content ?? "none")).toBe(true)

      expect(latency.length).toBeGreaterThanOrEqual(3)
      for (const { total_ms, ...turn } of latency) {
        const waits = Object.entries(turn).filter(([name]) => name.endsWith("_ms"))
        const sum = waits.reduce((all, [, wait]) => all + Number(wait), 0)
        expect(Math.abs(sum - Number(total_ms))).toBeLessThanOrEqual(5)
      }
    })
  })

  it("says that a key is wrong", () =>
    inBrowser("refused", async (page) => {
      await signIn(page, "pk_wrong")
      await alertSays(page, /key is not valid/)
    }))

  it("says that the microphone was refused, goes on in writing, and hangs up when the tab closes", async () => {
    await service.agent(quiet)
    await inBrowser("refused", async (page) => {
      await signIn(page, service.key)
      await click(page, "Call the agent")
      await alertSays(page, /microphone was refused/)
      await page.getByLabel("Type to the agent").fill("I would like an appointment on Friday")
      await click(page, "Send")
      await captionSays(page, "user", /appointment on Friday/)
      await captionSays(page, "agent", /Friday is fine/)
      await page.close({ runBeforeUnload: true })
      expect(await settled(service)).toMatchObject({ status: "completed", end_reason: "user_hangup" })
    })
  })

  it("says that the connection dropped, and goes on with the call when it is back", async () => {
    const proxy = await startProxy(service.url)
    await service.agent(quiet)
    try {
      await inBrowser(
        silence(1),
        async (page) => {
          await signIn(page, service.key)
          await click(page, "Call the agent")
          await stateSays(page, /Connected/)
          // The microphone is published just after that, and the page does not show when it is.
          await page.waitForTimeout(1_500)
          proxy.shut()
          await stateSays(page, /connection dropped/)
          proxy.open()
          await stateSays(page, /Connected/)
          await page.getByLabel("Type to the agent").fill("on Friday")
          await click(page, "Send")
          await captionSays(page, "agent", /Friday is fine/)
          await click(page, "Hang up")
          await page.getByText("you hung up").waitFor()
        },
        proxy.url
      )
      expect(await settled(service)).toMatchObject({ status: "completed", end_reason: "user_hangup" })
    } finally {
      proxy.close()
    }
  })

  it("says that the service is gone", async () => {
    const proxy = await startProxy(service.url)
    try {
      await inBrowser(
        "refused",
        async (page) => {
          await signIn(page, service.key)
          await page.getByLabel("Agents").waitFor()
          proxy.shut()
          await click(page, "New agent")
          await alertSays(page, /cannot be reached/)
        },
        proxy.url
      )
    } finally {
      proxy.close()
    }
  })

  it("says that no engine recognises speech, and takes typed input", async () => {
    const broken = createServer((_, response) => response.writeHead(500).end()).listen(0, "127.0.0.1")
    await once(broken, "listening")
    const address = `http://127.0.0.1:${(broken.address() as AddressInfo).port}/v1`
    const unhearing = await startService({ PARLEY_ASR: "openai", PARLEY_ASR_BASE_URL: address })
    try {
      await unhearing.agent(quiet)
      const microphone = inOne(silence(1), speakToWav("hello there"), silence(2), speakToWav("hello there"), silence(9))
      await inBrowser(
        microphone,
        async (page) => {
          await signIn(page, unhearing.key)
          await click(page, "Call the agent")
          await alertSays(page, /cannot hear you/)
          await page.getByLabel("Type to the agent").fill("on Friday")
          await click(page, "Send")
          await captionSays(page, "agent", /Friday is fine/)
        },
        unhearing.url
      )
    } finally {
      await unhearing.stop()
      broken.close()
    }
  })
})
