// What leaves the service by OTLP: a caller's trace goes on through every stage as the spans edge.request, tts.inference,
// tts.reference_encode, tts.align and asr.upstream, and
// no span, metric or log line holds a key, an id, a text, a transcript or an address.
import { createServer, type IncomingMessage, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type RunningService, startService } from "../../../src/testing/RunningService.ts"
import { drain, foreignKey, elevenlabs, openrouter, long, post, spoken } from "./SpeechClient.ts"
import { liveSocket } from "./LiveSocket.ts"

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
}

/** Says yes to everything and keeps it. */
const collect = async () => {
  const payloads: Array<{ readonly path: string; readonly text: string }> = []
  const server: Server = createServer((request: IncomingMessage, response) => {
    const pieces: Array<Buffer> = []
    request.on("data", (piece: Buffer) => void pieces.push(piece))
    request.on("end", () => {
      payloads.push({ path: request.url ?? "", text: Buffer.concat(pieces).toString() })
      response.setHeader("content-type", "application/json").end("{}")
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const spans = (): ReadonlyArray<Span> =>
    payloads
      .filter(({ path }) => path === "/v1/traces")
      .flatMap(({ text }) => (JSON.parse(text) as Traces).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans)
      .flatMap(({ spans }) => spans)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, payloads, spans, server }
}

interface Traces {
  readonly resourceSpans: ReadonlyArray<{ readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<Span> }> }>
}

const traceId = (i: number) => `4bf92f3577b34da6a3ce929d0e0e${String(i).padStart(4, "0")}`
const parentId = "00f067aa0ba902b7"
const traceparent = (i: number) => ({ traceparent: `00-${traceId(i)}-${parentId}-01` })

/** Words that occur in nothing of ours. */
const canary = "The quagmire of Zanzibar bewilders eleven flamingos."

describe("tracing of speech", { timeout: 60_000 }, () => {
  let service: RunningService
  let collector: Awaited<ReturnType<typeof collect>>
  let reference: Uint8Array<ArrayBuffer>

  beforeAll(async () => {
    collector = await collect()
    service = await startService({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_BSP_SCHEDULE_DELAY: "200",
      OTEL_BLRP_SCHEDULE_DELAY: "200",
      OTEL_METRIC_EXPORT_INTERVAL: "500",
      PARLEY_LOG_LEVEL: "debug",
      PARLEY_TRIAL_BALANCE: "1000"
    })
    reference = await spoken(service, long, { sample_rate: 24_000 })
  })
  afterAll(async () => {
    await service.stop()
    collector.server.close()
  })

  const named = (trace: string): ReadonlyArray<string> =>
    collector.spans().flatMap(({ name, traceId }) => (traceId === trace ? [name] : []))

  const edges = () => collector.spans().filter(({ name }) => name === "edge.request")

  /** The whole of a trace came: these names and no others of the speech stages. */
  const expectTrace = async (trace: string, ...names: ReadonlyArray<string>): Promise<void> => {
    const stages = () => [...new Set(named(trace).filter((name) => /^(edge|tts|asr)\./.test(name)))].sort()
    await expect.poll(stages, { timeout: 20_000 }).toEqual([...names].sort())
    const edge = collector.spans().find((span) => span.traceId === trace && span.name === "edge.request")
    expect(edge?.parentSpanId).toBe(parentId)
    const all = collector.spans().filter((span) => span.traceId === trace)
    const known = new Set(all.map(({ spanId }) => spanId))
    for (const { name, parentSpanId } of all) {
      if (name !== "edge.request") expect(known, `the parent of ${name}`).toContain(parentSpanId)
    }
  }

  const upload = (bytes: Uint8Array<ArrayBuffer>, headers: Record<string, string>) => {
    const form = new FormData()
    form.set("audio", new Blob([bytes]), "zanzibar-recording.wav")
    return fetch(`${service.url}/v1/asr`, {
      method: "POST",
      headers: { authorization: `Bearer ${service.key}`, ...headers },
      body: form
    })
  }

  it("continues over POST /v1/tts, reference included", async () => {
    const references = [{ audio: Buffer.from(reference).toString("base64"), text: canary }]
    const answer = await post(service, "/v1/tts", { text: canary, references }, traceparent(1))
    expect(answer.status).toBe(200)
    await answer.arrayBuffer()
    await expectTrace(traceId(1), "edge.request", "tts.inference", "tts.reference_encode")
  })

  it("continues over POST /v1/tts/stream/with-timestamp", async () => {
    const given = { text: `${canary} ${long}`, format: "pcm" }
    await drain((await post(service, "/v1/tts/stream/with-timestamp", given, traceparent(2))).body)
    await expectTrace(traceId(2), "edge.request", "tts.inference", "tts.align")
  })

  it("continues over POST /v1/asr", async () => {
    await (await upload(await spoken(service, canary), traceparent(3))).text()
    await expectTrace(traceId(3), "edge.request", "asr.upstream")
  })

  it.for([
    ["/v1/tts/live", 4, ["edge.request", "tts.inference"]],
    ["/v1/tts/live/with-timestamp", 5, ["edge.request", "tts.inference", "tts.align"]]
  ] as const)("continues over the upgrade to %s", async ([path, i, names]) => {
    const headers = { authorization: `Bearer ${service.key}`, ...traceparent(i) }
    const { closed, events, send, ws } = await liveSocket(service, path, headers)
    send({ event: "start", request: { text: canary, format: "pcm" } })
    send({ event: "stop" })
    await expect.poll(() => events.at(-1)?.["event"], { timeout: 20_000 }).toBe("finish")
    ws.close()
    await closed
    await expectTrace(traceId(i), ...names)
  })

  it.for([
    "nonsense",
    `00-${"0".repeat(32)}-${parentId}-01`,
    `00-${traceId(6)}-${"0".repeat(16)}-01`,
    `00-${traceId(6).toUpperCase()}-${parentId}-01`,
    `ff-${traceId(6)}-${parentId}-01`,
    `00-${traceId(6)}-${parentId}`,
    `00-${traceId(6)}-${parentId}-01-more`
  ])("starts a new trace for the traceparent %j", async (traceparent) => {
    const before = edges().length
    const answer = await post(service, "/v1/tts", { text: "Hello.", format: "pcm" }, { traceparent })
    expect(answer.status).toBe(200)
    await answer.arrayBuffer()
    await expect.poll(() => edges().length, { timeout: 20_000 }).toBeGreaterThan(before)
    const edge = edges().at(-1)
    expect(edge?.parentSpanId ?? "").toBe("")
    expect(edge?.traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/)
    expect(edge?.traceId).not.toBe(traceId(6))
  })

  it("tells nobody what was said, by whom, or with which voice", async () => {
    const stranger = await foreignKey(service)
    const form = new FormData()
    for (const [name, value] of Object.entries({
      type: "tts",
      title: "Zanzibar aunt",
      train_mode: "fast",
      texts: canary
    })) {
      form.set(name, value)
    }
    form.set("voices", new Blob([reference]), "zanzibar.wav")
    const made = await fetch(`${service.url}/model`, {
      method: "POST",
      headers: { authorization: `Bearer ${service.key}` },
      body: form
    })
    const { _id, author } = (await made.json()) as { readonly _id: string; readonly author: { readonly _id: string } }
    const json = { "content-type": "application/json" }
    const a = { ...json, "xi-api-key": service.key }
    const requests = [
      post(service, "/v1/tts", { text: canary, reference_id: _id }),
      post(service, "/v1/tts", { text: canary, reference_id: "zanzibar-voice" }),
      post(service, "/v1/tts", { text: canary, format: "zanzibar" }),
      fetch(`${elevenlabs(service.url)}/v1/text-to-speech/${_id}?zanzibar=1`, {
        method: "POST",
        headers: a,
        body: JSON.stringify({ text: canary })
      }),
      fetch(`${elevenlabs(service.url)}/v1/voices/${_id}`, { headers: { "xi-api-key": stranger } })
    ]
    for (const answer of await Promise.all(requests)) await answer.arrayBuffer()
    const speech = { model: "vendor-audio/s2.1-pro", input: canary, voice: "zanzibar", user: "zanzibar" }
    const b = { ...json, authorization: `Bearer ${service.key}` }
    await (
      await fetch(`${openrouter(service.url)}/audio/speech`, {
        method: "POST",
        headers: b,
        body: JSON.stringify(speech)
      })
    ).text()
    await (await upload(await spoken(service, canary), { authorization: `Bearer ${stranger}` })).text()
    await (await upload(new Uint8Array(Buffer.from("zanzibar")), {})).text()
    const design = { instruction: "A voice from Zanzibar", n: 1 }
    await (await post(service, "/v1/voice-design", design, { model: "voice-design-1" })).arrayBuffer()
    await (
      await post(service, "/v1/tts", { text: "Hello." }, { authorization: "Bearer zanzibar-key", ...traceparent(7) })
    ).text()
    await expectTrace(traceId(7), "edge.request")
    const after = collector.payloads.length
    const metrics = () => collector.payloads.slice(after).some(({ path }) => path === "/v1/metrics")
    await expect.poll(metrics, { timeout: 20_000 }).toBe(true)
    const exported = collector.payloads.map(({ text }) => text).join("\n")
    for (const there of ["edge.request", "parley_http_requests", "scopeLogs"]) expect(exported).toContain(there)
    const scraped = await (await fetch(`${service.url}/metrics`)).text()
    const logged = service.log().replace(/API key {2}\S+/, "")
    const secrets = [service.key, stranger, _id, author._id, "zanzibar", "quagmire", "flamingo", "127.0.0.1", "parley-"]
    for (const [where, text] of Object.entries({ exported, scraped, logged })) {
      // What the service says of itself as it starts: where it listens and keeps its data.
      const said = where === "logged" ? secrets.slice(0, 7) : secrets
      for (const secret of said)
        expect(text.toLowerCase().includes(secret.toLowerCase()), `${secret} in ${where}`).toBe(false)
    }
  })
})
