// What is wrong is answered on each speech socket in the words of its protocol, and the socket closed with the documented
// code: 1008 after an error event, 1003 for a frame of the wrong kind, 1009 too large.
import { encode } from "@msgpack/msgpack"
import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { WebSocket } from "ws"
import { type RunningService, startService } from "../../../src/testing/RunningService.ts"
import { foreignKey, elevenlabs, operate, sentence } from "./SpeechClient.ts"
import { expectEnvelope } from "./Envelopes.ts"
import { liveSocket, occupyPermit } from "./LiveSocket.ts"

const mebibyte = 2 ** 20
const start = { event: "start", request: { text: "", format: "pcm", sample_rate: 8000 } }

const spokenAt = (query = "output_format=pcm_16000", voice = "default") =>
  `/compat/elevenlabs/v1/text-to-speech/${voice}/stream-input?${query}`

describe("bad input on speech sockets", { timeout: 60_000 }, () => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService({ PARLEY_TRIAL_BALANCE: "1000" })
  })
  afterAll(() => service.stop())

  /** The HTTP answer instead of an upgrade. */
  const refusedUpgrade = async (path: string, headers: Record<string, string>) => {
    const ws = new WebSocket(service.url.replace(/^http/, "ws") + path, { headers })
    ws.on("error", () => undefined)
    const [, response] = (await once(ws, "unexpected-response")) as [unknown, IncomingMessage]
    const pieces: Array<Buffer> = []
    for await (const piece of response) pieces.push(piece as Buffer)
    ws.terminate()
    const status = response.statusCode ?? 0
    expectEnvelope(path, status, response.headers["content-type"] ?? null, Buffer.concat(pieces).toString())
    return status
  }

  describe.for(["/v1/tts/live", "/v1/tts/live/with-timestamp"])("wss %s", (path) => {
    it.for([
      ["text before start", [{ event: "text", text: "Hello." }], 1008],
      ["flush before start", [{ event: "flush" }], 1008],
      ["a second start", [start, start], 1008],
      ["an unknown event", [start, { event: "sing" }], 1008],
      ["an event without a name", [{ text: "Hello." }], 1008],
      ["a start without a request", [{ event: "start" }], 1008],
      ["a start with a bad request", [{ event: "start", request: { format: "flac" } }], 1008],
      ["a start with a list", [{ event: "start", request: ["Hello."] }], 1008],
      ["an unknown voice", [{ event: "start", request: { text: "", reference_id: "nobody" } }], 1008],
      [
        "references that are no sound",
        [{ event: "start", request: { text: "", references: [{ audio: new Uint8Array(64), text: "a" }] } }],
        1008
      ],
      ["text that is no text", [start, { event: "text", text: 7 }], 1008],
      ["text over 1 MiB", [start, { event: "text", text: "a".repeat(mebibyte + 1) }], 1009],
      ["a frame that is no map", [["start"]], 1003]
    ] as const)("refuses %s", async ([, frames, code]) => {
      const { closed, events, send } = await liveSocket(service, path)
      for (const frame of frames) send(frame)
      expect(await closed).toBe(code)
      expect(events.at(-1)).toMatchObject({ event: "error", error: expect.any(String) })
    })

    it.for([
      ["text", "start", 1003],
      ["bytes that are no MessagePack", Buffer.from([0xc1, 0xff]), 1003],
      ["a cut map", Buffer.from(encode(start)).subarray(0, 9), 1003],
      ["nothing", Buffer.alloc(0), 1003]
    ] as const)("refuses a frame of %s", async ([, frame, code]) => {
      const { closed, events, ws } = await liveSocket(service, path)
      ws.send(frame)
      expect(await closed).toBe(code)
      expect(events).toMatchObject([{ event: "error" }])
    })

    it("cuts a frame over 32 MiB", async () => {
      const { closed, ws } = await liveSocket(service, path)
      ws.send(Buffer.alloc(32 * mebibyte + 1))
      expect(await closed).toBe(1009)
    })

    it("answers a missing and a bad key before the upgrade", async () => {
      expect(await refusedUpgrade(path, {})).toBe(401)
      expect(await refusedUpgrade(path, { authorization: "Bearer nobody" })).toBe(401)
    })

    it("speaks text that could be taken for something else", async () => {
      const { closed, events, send, ws } = await liveSocket(service, path)
      send({ event: "start", request: { ...start.request, reference_id: null } })
      for (const text of ["/etc/passwd", "\u0007", "", "...", "\u{1f600}"]) send({ event: "text", text })
      send({ event: "flush" })
      send({ event: "flush" })
      send({ event: "stop" })
      await expect.poll(() => events.at(-1)?.["event"], { timeout: 20_000 }).toBe("finish")
      expect(events.at(-1)).toMatchObject({ reason: "stop" })
      ws.close()
      await closed
      const bytes = events.reduce((sum, { audio }) => sum + (audio instanceof Uint8Array ? audio.length : 0), 0)
      expect(bytes).toBeGreaterThan(8_000)
      expect(bytes).toBeLessThan(16_000 * 10)
    })
  })

  it("refuses one session too many and says how many there may be; the permit comes back", async () => {
    const key = await foreignKey(service, "narrow")
    await operate(service, "credit", "concurrency", "--workspace", "narrow", "1")
    const headers = { authorization: `Bearer ${key}` }
    const leave = await occupyPermit(service, key)
    const ask = async () => {
      const { closed, events, send, ws } = await liveSocket(service, undefined, headers)
      send(start)
      send({ event: "stop" })
      await Promise.race([closed, expect.poll(() => events.length, { timeout: 20_000 }).toBeGreaterThan(0)])
      ws.terminate()
      return events[0]
    }
    // The running service reads the limit once a second.
    await expect.poll(ask, { timeout: 10_000 }).toMatchObject({ event: "error", max_concurrency: 1 })
    await leave()
    await expect.poll(ask, { timeout: 10_000 }).toMatchObject({ event: "finish", reason: "stop" })
  })

  const talk = async (
    frames: ReadonlyArray<unknown>,
    url = spokenAt(),
    headers: Record<string, string> = { "xi-api-key": service.key }
  ) => {
    const ws = new WebSocket(service.url.replace(/^http/, "ws") + url, { headers })
    const told: Array<Readonly<Record<string, unknown>>> = []
    ws.on("message", (data: Buffer) => void told.push(JSON.parse(data.toString()) as (typeof told)[0]))
    ws.on("error", () => undefined)
    const closed = new Promise<number>((resolve) => ws.once("close", resolve))
    await once(ws, "open")
    for (const frame of frames)
      ws.send(typeof frame === "string" || Buffer.isBuffer(frame) ? frame : JSON.stringify(frame))
    return { code: await closed, told }
  }

  describe("the ElevenLabs-compatible API, text to speech", () => {
    const open = { text: " ", voice_settings: null }

    it.for([
      ["no JSON", ["Hello"], 400, 1000],
      ["a binary frame", [Buffer.from([1, 2, 3])], 400, 1000],
      ["a list", [[]], 400, 1000],
      ["text that is no text", [open, { text: 7 }], 400, 1000],
      ["an unpaired surrogate", [open, '{"text":"\\ud800 "}'], 400, 1000],
      ["text over 1 MiB", [open, { text: "a".repeat(mebibyte + 1) }], 1009, 1009]
    ] as const)("refuses %s", async ([, frames, code, close]) => {
      const ended = await talk(frames)
      expect(ended.told).toEqual([{ error: expect.any(String), code }])
      expect(ended.code).toBe(close)
    })

    it("refuses an unknown voice, a missing key and the 22.05 kHz family in band", async () => {
      const hello = [open, { text: "Hello. " }, { text: "" }]
      expect((await talk(hello, spokenAt(undefined, "nobody"))).told).toEqual([
        { error: "Reference not found", code: 400 }
      ])
      expect(await talk(hello, spokenAt(), {})).toMatchObject({ code: 1008, told: [{ code: 401 }] })
      expect(await talk(hello, spokenAt("output_format=mp3_22050_32"))).toMatchObject({
        code: 1000,
        told: [{ code: 400 }]
      })
      expect(await talk([{ ...open, xi_api_key: "x", "xi-api-key": "nobody" }], spokenAt(), {})).toMatchObject({
        told: [{ code: 401 }]
      })
    })

    it("refuses what cannot be served before the upgrade", async () => {
      const key = { "xi-api-key": service.key }
      expect(await refusedUpgrade(spokenAt("output_format=ulaw_8000"), key)).toBe(400)
      expect(await refusedUpgrade(spokenAt("output_format=%00"), key)).toBe(400)
      expect(await refusedUpgrade(spokenAt(), { "xi-api-key": "nobody" })).toBe(401)
      expect(await refusedUpgrade(spokenAt("model_id=vendor-audio/none"), key)).toBe(404)
    })

    it("speaks a file's name", async () => {
      const { code, told } = await talk([open, { text: "/etc/passwd" }, { text: "" }])
      expect(code).toBe(1000)
      expect(told.at(-1)).toEqual({ isFinal: true })
      const bytes = told.reduce((sum, { audio }) => sum + Buffer.from(String(audio ?? ""), "base64").length, 0)
      expect(bytes / 32_000).toBeGreaterThan(0.5)
      expect(bytes / 32_000).toBeLessThan(6)
    })
  })

  describe("the ElevenLabs-compatible API, real-time speech to text", () => {
    const path = "/compat/elevenlabs/v1/speech-to-text/realtime?model_id=scribe_v2_realtime"
    it("goes on after what it cannot use", async () => {
      const ws = new WebSocket(elevenlabs(service.url).replace(/^http/, "ws") + path.slice(18), {
        headers: { "xi-api-key": service.key }
      })
      const told: Array<Readonly<Record<string, unknown>>> = []
      ws.on("message", (data: Buffer) => void told.push(JSON.parse(data.toString()) as (typeof told)[0]))
      await once(ws, "open")
      const chunk = { message_type: "input_audio_chunk", commit: false, sample_rate: 16_000 }
      for (const frame of ["no JSON", "[]", "null", '{"message_type":"sing"}', Buffer.from([1, 2])]) ws.send(frame)
      ws.send(JSON.stringify({ ...chunk, audio_base_64: "***" }))
      ws.send(JSON.stringify({ ...chunk, audio_base_64: "A".repeat(6 * mebibyte) }))
      ws.send(JSON.stringify({ ...chunk, audio_base_64: 7 }))
      ws.send(JSON.stringify({ ...chunk, audio_base_64: "AAA=" }))
      ws.send(JSON.stringify({ ...chunk, audio_base_64: "", commit: true }))
      const kinds = () => told.map(({ message_type }) => message_type)
      const all = [
        "session_started",
        "input_error",
        "input_error",
        "committed_transcript",
        "committed_transcript_with_timestamps"
      ]
      await expect.poll(kinds, { timeout: 20_000 }).toEqual(all)
      ws.terminate()
    })

    it.for(["commit_strategy=vad", "audio_format=ulaw_8000", "audio_format=pcm_1", "audio_format=pcm_999999"])(
      "refuses %s before the upgrade",
      async (query) => {
        expect(await refusedUpgrade(`${path}&${query}`, { "xi-api-key": service.key })).toBe(400)
      }
    )

    it("asks for a key", async () => {
      expect(await refusedUpgrade(path, {})).toBe(401)
    })
  })

  it("is still there, and logged no failure of its own", async () => {
    const answer = await fetch(`${service.url}/v1/tts`, {
      method: "POST",
      headers: { authorization: `Bearer ${service.key}`, "content-type": "application/json" },
      body: JSON.stringify({ text: sentence })
    })
    expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(10_000)
    expect(service.log()).not.toMatch(/failed|Error/)
  })
})
