// The engine dies while everybody listens: no API may make a whole answer of half a speech. Bodies break off, event
// streams end with `event: error`, sockets with an error; a cut stream is never a complete 200.
import { makeFakeOpenAiAudio } from "@parley/speech/testing/FakeOpenAiAudio"
import { Effect, Exit, Scope } from "effect"
import { once } from "node:events"
import { afterAll, describe, expect, it } from "vitest"
import { WebSocket } from "ws"
import { startService } from "../../../src/testing/RunningService.ts"
import { elevenlabs, openrouter, long, operate, post } from "./SpeechClient.ts"
import { expectEnvelope } from "./Envelopes.ts"
import { liveSocket } from "./LiveSocket.ts"

const endless = `${long} `.repeat(60)
const engine = Effect.runSync(Scope.make())
afterAll(() => Effect.runPromise(Scope.close(engine, Exit.void)))

/** The first piece, then nothing until asked: the engine cannot be done meanwhile. */
const begun = async (answer: Response) => {
  expect(answer.status).toBe(200)
  const reader = answer.body!.getReader()
  const decoder = new TextDecoder()
  let text = decoder.decode((await reader.read()).value)
  return {
    /** Everything else; `cut` when the body broke off. */
    rest: async (): Promise<{ readonly cut: boolean; readonly text: string }> => {
      try {
        for (;;) {
          const { done, value } = await reader.read()
          if (done) return { cut: false, text }
          text = (text + decoder.decode(value)).slice(-20_000)
        }
      } catch {
        return { cut: true, text }
      }
    }
  }
}

describe("an engine that dies in the middle of a speech", { timeout: 90_000 }, () => {
  it("leaves no API with a whole answer, and a status when nothing was said yet", async () => {
    const fake = await Effect.runPromise(Scope.provide(makeFakeOpenAiAudio(), engine))
    const service = await startService({
      PARLEY_TTS_BASE_URL: fake.baseUrl,
      PARLEY_TTS_VOICES: "nova"
    })
    // Whoever paid that much may do fifty things at the same time.
    await operate(service, "credit", "add", "1000")
    const credit = async () => Number((await service.api<{ credit: string }>("GET", "/wallet/self/api-credit")).credit)
    await expect.poll(credit, { timeout: 10_000 }).toBeGreaterThan(1000)
    const json = { "content-type": "application/json" }
    const a = { ...json, "xi-api-key": service.key }
    const b = { ...json, authorization: `Bearer ${service.key}` }
    const spokenA = (path: string) =>
      fetch(`${elevenlabs(service.url)}/v1/text-to-speech/default/${path}?output_format=pcm_44100`, {
        method: "POST",
        headers: a,
        body: JSON.stringify({ text: endless })
      })
    const speech = { model: "vendor-audio/s2.1-pro", input: endless, voice: "" }
    const bodies = [
      await begun(await post(service, "/v1/tts", { text: endless, format: "pcm" })),
      await begun(await spokenA("stream")),
      await begun(await spokenA("stream/with-timestamps")),
      await begun(
        await fetch(`${openrouter(service.url)}/audio/speech`, {
          method: "POST",
          headers: b,
          body: JSON.stringify(speech)
        })
      )
    ]
    const events = await begun(await post(service, "/v1/tts/stream/with-timestamp", { text: endless, format: "pcm" }))
    const live = await liveSocket(service)
    live.send({ event: "start", request: { text: endless, format: "pcm" } })
    live.send({ event: "flush" })
    const texts = new WebSocket(
      `${elevenlabs(service.url).replace(/^http/, "ws")}/v1/text-to-speech/default/stream-input?output_format=pcm_44100`,
      { headers: { "xi-api-key": service.key } }
    )
    const told: Array<Readonly<Record<string, unknown>>> = []
    texts.on("message", (data: Buffer) => void told.push(JSON.parse(data.toString()) as (typeof told)[0]))
    const textsClosed = new Promise<number>((resolve) => texts.once("close", resolve))
    await once(texts, "open")
    for (const text of [" ", endless]) texts.send(JSON.stringify({ text, flush: text !== " " }))
    await expect.poll(() => live.events.length > 0 && told.length > 0, { timeout: 20_000 }).toBe(true)
    for (const { ws } of [live, { ws: texts }]) ws.pause()

    await Effect.runPromise(Scope.close(engine, Exit.void))
    for (const { ws } of [live, { ws: texts }]) ws.resume()

    for (const { cut } of await Promise.all(bodies.map(({ rest }) => rest()))) expect(cut).toBe(true)
    const { cut, text } = await events.rest()
    expect(cut).toBe(false)
    const last = text.trimEnd().split("\n\n").at(-1) ?? ""
    expect(last).toMatch(/^event: error\ndata: \{/)
    expect(JSON.parse(last.split("data: ")[1] ?? "")).toEqual({
      status: 502,
      message: expect.any(String),
      reason: null
    })
    expect(await live.closed).toBe(1011)
    expect(live.events.at(-1)).toMatchObject({ event: "finish", reason: "error", message: expect.any(String) })
    expect(await textsClosed).toBe(1011)
    expect(told.at(-1)).toEqual({ error: expect.any(String), code: 502 })

    const paths = [
      "/v1/tts",
      "/v1/tts/stream/with-timestamp",
      "/compat/elevenlabs/v1/text-to-speech/default/stream",
      "/compat/api/v1/audio/speech"
    ]
    for (const path of paths) {
      const body = { text: "Hello.", input: "Hello.", model: "vendor-audio/s2.1-pro" }
      const answer = await post(service, path, body, { "xi-api-key": service.key })
      expect(answer.status, path).toBe(502)
      expectEnvelope(path, 502, answer.headers.get("content-type"), await answer.text())
    }
    expect((await fetch(`${service.url}/health`)).status).toBeLessThan(504)
    await service.stop()
  })
})
