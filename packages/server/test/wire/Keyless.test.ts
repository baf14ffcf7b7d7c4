// What can be done without a key, against the running service: sockets whose key is to come with the first message, bodies of
// visitors, and wrong keys.
import { startService, type RunningService } from "../../src/testing/RunningService.ts"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { WebSocket } from "ws"

const kibibyte = 1024
const path = "/compat/elevenlabs/v1/text-to-speech/default/stream-input?output_format=pcm_16000"

const closing = async (ws: WebSocket) => (await once(ws, "close"))[0] as number

describe("without a key", { timeout: 60_000 }, () => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService({ PARLEY_TRUSTED_PROXIES: "127.0.0.1" })
  })
  afterAll(() => service.stop())

  const socket = (address: string) => {
    const ws = new WebSocket(service.url.replace(/^http/, "ws") + path, { headers: { "x-forwarded-for": address } })
    ws.on("error", () => undefined)
    return ws
  }
  const opened = async (address: string) => {
    const ws = socket(address)
    await once(ws, "open")
    return ws
  }
  const key = () => JSON.stringify({ text: " ", "xi-api-key": service.key })
  const visit = (body: string, address: string, headers: Record<string, string> = {}) =>
    fetch(`${service.url}/v1/agent/sessions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": address, ...headers },
      body
    })

  it("takes frames of 16 KiB before the key, and large ones after", async () => {
    const large = await opened("192.0.2.1")
    large.send(JSON.stringify({ text: "a".repeat(16 * kibibyte), "xi-api-key": service.key }))
    expect(await closing(large)).toBe(1009)

    const inPieces = await opened("192.0.2.1")
    for (let i = 0; i < 20; i++) inPieces.send("a".repeat(kibibyte), { fin: false })
    expect(await closing(inPieces)).toBe(1009)

    const known = await opened("192.0.2.1")
    known.send(key())
    known.send(JSON.stringify({ text: "Hello. ", voice_settings: null, more: "a".repeat(64 * kibibyte) }))
    known.send(JSON.stringify({ text: "" }))
    const [first] = (await once(known, "message")) as [Buffer]
    expect(JSON.parse(first.toString())).toHaveProperty("audio")
    known.terminate()
  })

  it("closes after 5 s without the key, also in the middle of a frame", async () => {
    const silent = await opened("192.0.2.2")
    const cut = await opened("192.0.2.2")
    cut.send("{", { fin: false })
    const began = performance.now()
    expect(await Promise.all([closing(silent), closing(cut)])).toEqual([1008, 1008])
    expect(performance.now() - began).toBeLessThan(20_000)
  })

  it("has 32 of them by address, and counts none that brought its key", async () => {
    const sockets = await Promise.all(Array.from({ length: 32 }, () => opened("192.0.2.3")))
    const [, refused] = (await once(socket("192.0.2.3"), "unexpected-response")) as [unknown, IncomingMessage]
    expect(refused.statusCode).toBe(429)
    ;(await opened("192.0.2.4")).terminate()
    sockets[0]?.send(key())
    sockets[0]?.send(JSON.stringify({ text: "Hello. ", flush: true }))
    await once(sockets[0] as WebSocket, "message")
    ;(await opened("192.0.2.3")).terminate()
    for (const one of sockets) one.terminate()
  })

  it("refuses nested first messages", async () => {
    const ws = await opened("192.0.2.5")
    ws.send("[".repeat(16_000))
    const [answer] = (await once(ws, "message")) as [Buffer]
    expect(JSON.parse(answer.toString())).toMatchObject({ code: 400 })
    ws.terminate()
  })

  it("answers nested and large bodies with 4xx, by visitors and by owners", async () => {
    const nested = `{"agent_id":"agent_x","metadata":${'{"a":'.repeat(30_000)}1${"}".repeat(30_000)}}`
    expect((await visit(nested.slice(0, 120_000), "192.0.2.6")).status).toBe(400)
    expect((await visit(nested, "192.0.2.6")).status).toBe(413)
    for (const [method, where] of [
      ["POST", "/v1/agent/sessions"],
      ["POST", "/v1/agent/agents"],
      ["POST", "/v1/agent/tools"],
      ["POST", "/v1/tts"],
      ["POST", "/compat/elevenlabs/v1/text-to-speech/default"],
      ["POST", "/compat/api/v1/audio/speech"]
    ] as const) {
      const headers = {
        authorization: `Bearer ${service.key}`,
        "xi-api-key": service.key,
        "content-type": "application/json"
      }
      const answer = await fetch(service.url + where, { method, headers, body: nested })
      expect([where, answer.status]).toEqual([where, 400])
    }
  })

  it("counts the requests of a visitor before it reads them", async () => {
    const statuses = await Promise.all(Array.from({ length: 130 }, () => visit("{", "192.0.2.7")))
    expect(statuses.filter(({ status }) => status === 400).length).toBe(120)
    expect(statuses.filter(({ status }) => status === 429).length).toBe(10)
    expect((await visit("{", "192.0.2.8")).status).toBe(400)
  })

  it("counts IPv6 by its /64", async () => {
    const answers = await Promise.all(
      Array.from({ length: 121 }, (_, i) => visit("{", `2001:db8:0:1::${i.toString(16)}`))
    )
    expect(answers.filter(({ status }) => status === 429).length).toBe(1)
    expect((await visit("{", "2001:db8:0:2::1")).status).toBe(400)
  })

  it("slows wrong keys by address, not right ones", async () => {
    const ask = (bearer: string) =>
      fetch(`${service.url}/v1/agent/agents`, {
        headers: { authorization: `Bearer ${bearer}`, "x-forwarded-for": "192.0.2.9" }
      })
    const answers = Promise.all(Array.from({ length: 40 }, () => ask("wrong")))
    await ask("wrong")
    expect((await ask(service.key)).status).toBe(200)
    const statuses = (await answers).map(({ status }) => status)
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(18)
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(22)
  })
})
