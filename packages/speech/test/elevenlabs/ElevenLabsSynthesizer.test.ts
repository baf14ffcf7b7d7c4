import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, Stream } from "effect"
import type { WebSocket } from "ws"
import { pcmBytes } from "@parley/audio/Wav"
import { makeElevenLabsSynthesizer } from "../../src/elevenlabs/ElevenLabsSynthesizer.ts"
import type { ElevenLabsSpeechSettings } from "../../src/elevenlabs/ElevenLabsSynthesizer.ts"
import { collect, phrase, synthesizerCases } from "../cases/synthesizerCases.ts"
import { until } from "../cases/transcriberCases.ts"
import { makeFakeSocketServer, onFrame } from "../socket/FakeSocketServer.ts"

type Behaviour =
  | "works"
  /** Times count from the sound of their own message. */
  | "relative"
  /** No times of characters. */
  | "untimed"
  | "hangs"
  /** One sample now and then, for ever. */
  | "drips"
  /** A third of the sound, then no close frame. */
  | "breaks"
  | "garbage"
  | "nonsense"
  | "silent"
  | { readonly error: string; readonly code?: unknown; readonly close: number }

const letterMs = 50

const pcm = (ms: number): string => {
  const samples = Int16Array.from({ length: ms * 24 }, (_, i) => Math.round(9000 * Math.sin(i / 12)))
  return Buffer.from(pcmBytes(samples)).toString("base64")
}

/** A tone whose length follows the text, in three messages, with the times of its letters. */
const answer = (socket: WebSocket, text: string, speed: number, behaviour: Behaviour): void => {
  const json = (message: unknown) => socket.send(JSON.stringify(message))
  if (typeof behaviour === "object") {
    json({ error: behaviour.error, ...(behaviour.code === undefined ? {} : { code: behaviour.code }) })
    return socket.close(behaviour.close)
  }
  switch (behaviour) {
    case "hangs":
      return
    case "garbage":
      return socket.send("<html>")
    case "nonsense":
      return json({ audio: 17 })
    case "silent":
      json({ isFinal: true })
      return socket.close(1000)
    case "drips": {
      const timer = setInterval(() => json({ audio: Buffer.from([1, 0]).toString("base64") }), 50)
      return void socket.on("close", () => clearInterval(timer))
    }
    case "breaks":
      json({ audio: pcm(300) })
      return void setTimeout(() => socket.terminate(), 20)
  }
  const ms = letterMs / speed
  const letters = [...text]
  const size = Math.ceil(letters.length / 3)
  for (let at = 0; at < letters.length; at += size) {
    const chars = letters.slice(at, at + size)
    const base = behaviour === "relative" ? 0 : at
    const alignment = {
      chars,
      charStartTimesMs: chars.map((_, i) => (base + i) * ms),
      charDurationsMs: chars.map(() => ms)
    }
    json({ audio: pcm(chars.length * ms), ...(behaviour === "untimed" ? { alignment: null } : { alignment }) })
  }
  json({ isFinal: true })
  socket.close(1000)
}

const setUp = Effect.fnUntraced(function* (settings: Partial<ElevenLabsSpeechSettings> = {}) {
  const behaviours: Array<Behaviour> = []
  const frames: Array<unknown> = []
  const server = yield* makeFakeSocketServer((socket) => {
    let text = ""
    let speed = 1
    onFrame(socket, (frame) => {
      frames.push(frame)
      if (Buffer.isBuffer(frame)) return
      speed = (frame["voice_settings"] as { readonly speed?: number } | undefined)?.speed ?? speed
      if (frame["text"] === "") answer(socket, text.trim(), speed, behaviours.shift() ?? "works")
      text += String(frame["text"])
    })
  })
  const voices = [
    { id: "anna", name: "Anna", language: "en" },
    { id: "b/en", name: "Ben", language: "en" }
  ] as const
  const synthesizer = makeElevenLabsSynthesizer({
    baseUrl: server.baseUrl,
    model: "voice-1",
    voices,
    firstByteMs: 1500,
    gapMs: 400,
    ...settings
  })
  return { server, synthesizer, frames, behave: (...more: ReadonlyArray<Behaviour>) => behaviours.push(...more) }
})

synthesizerCases(
  "elevenlabs",
  Effect.map(setUp(), ({ synthesizer }) => synthesizer)
)

describe("ElevenLabsSynthesizer", () => {
  it.live("asks as the protocol has it: voice in the path, raw PCM, key in its header, text, end", () =>
    Effect.gen(function* () {
      const { frames, server, synthesizer } = yield* setUp({ apiKey: Redacted.make("secret") })
      yield* collect(synthesizer.synthesize({ ...phrase, voice: "b/en", speed: 1.5 }))
      const [request] = server.requests
      expect(request?.url.pathname).toBe("/base/v1/text-to-speech/b%2Fen/stream-input")
      expect(Object.fromEntries(request?.url.searchParams ?? [])).toEqual({
        model_id: "voice-1",
        output_format: "pcm_24000",
        sync_alignment: "true"
      })
      expect(request?.headers["xi-api-key"]).toBe("secret")
      expect(frames).toEqual([
        { text: " ", voice_settings: { speed: 1.5 } },
        { text: `${phrase.text} `, flush: true },
        { text: "" }
      ])
    })
  )

  it.live.each([["works"], ["relative"]] as const)("times words by their letters, counted as in '%s'", ([behaviour]) =>
    Effect.gen(function* () {
      const { behave, synthesizer } = yield* setUp()
      behave(behaviour)
      const { words } = yield* collect(synthesizer.synthesize(phrase))
      for (const word of words) {
        expect(word.exact).toBe(true)
        expect(word.startMs).toBeCloseTo(word.from * letterMs)
        expect(word.endMs).toBeCloseTo(word.to * letterMs)
      }
    })
  )

  it.live("estimates words where the service gives no times, and gives none where nobody wants them", () =>
    Effect.gen(function* () {
      const { behave, server, synthesizer } = yield* setUp()
      behave("untimed")
      const { words } = yield* collect(synthesizer.synthesize(phrase))
      expect(words).toHaveLength(8)
      expect(words.every((word) => !word.exact)).toBe(true)
      const { chunks } = yield* collect(synthesizer.synthesize({ ...phrase, words: false }))
      expect(chunks.every((chunk) => chunk._tag === "Audio")).toBe(true)
      expect(server.requests[1]?.url.searchParams.has("sync_alignment")).toBe(false)
    })
  )

  const refusals = [
    ["dead", "Unavailable"],
    ["hangs", "Timeout"],
    [401, "Unauthorized"],
    [402, "Overloaded"],
    [422, "BadRequest"],
    [429, "Overloaded"],
    [503, "Unavailable"]
  ] as const
  it.live.each(refusals)("a handshake that is %s is %s", ([handshake, reason]) =>
    Effect.gen(function* () {
      const { server, synthesizer } = yield* setUp({ firstByteMs: 500 })
      server.handshake(handshake)
      expect(yield* Effect.flip(collect(synthesizer.synthesize(phrase)))).toMatchObject({
        reason,
        provider: "elevenlabs"
      })
      yield* collect(synthesizer.synthesize(phrase))
    })
  )

  const misbehaviours: ReadonlyArray<readonly [Behaviour, string]> = [
    ["hangs", "Timeout"],
    ["drips", "Timeout"],
    ["breaks", "Unavailable"],
    ["garbage", "InvalidOutput"],
    ["nonsense", "InvalidOutput"],
    ["silent", "InvalidOutput"],
    [{ error: "Payment required", code: 402, close: 1000 }, "Overloaded"],
    [{ error: "invalid_api_key", close: 1008 }, "Unauthorized"],
    [{ error: "quota_exceeded", close: 1008 }, "Overloaded"],
    [{ error: "something", code: {}, close: 1011 }, "Unavailable"]
  ]
  it.live.each(misbehaviours)("%j ends as %s, its socket closed", ([behaviour, reason]) =>
    Effect.gen(function* () {
      const { behave, server, synthesizer } = yield* setUp()
      behave(behaviour)
      expect(yield* Effect.flip(collect(synthesizer.synthesize(phrase)))).toMatchObject({ reason })
      yield* until(() => server.open() === 0)
    })
  )

  it.live("meets a refused connection with Unavailable", () =>
    Effect.gen(function* () {
      const { synthesizer } = yield* setUp({ baseUrl: "http://127.0.0.1:9" })
      expect(yield* Effect.flip(collect(synthesizer.synthesize(phrase)))).toMatchObject({ reason: "Unavailable" })
    })
  )

  it.live("closes its socket when interrupted", () =>
    Effect.gen(function* () {
      const { behave, server, synthesizer } = yield* setUp()
      behave("hangs")
      const fiber = yield* Effect.forkChild(Stream.runDrain(synthesizer.synthesize(phrase)))
      yield* until(() => server.open() === 1)
      yield* Fiber.interrupt(fiber)
      yield* until(() => server.open() === 0)
    })
  )
})
