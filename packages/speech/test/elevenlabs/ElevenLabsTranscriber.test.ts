import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import type { WebSocket } from "ws"
import { makeElevenLabsTranscriber } from "../../src/elevenlabs/ElevenLabsTranscriber.ts"
import type { ElevenLabsSettings } from "../../src/elevenlabs/ElevenLabsTranscriber.ts"
import { finals, transcriptLog, pushAll, transcriberCases, until } from "../cases/transcriberCases.ts"
import { makeFakeSocketServer, onFrame } from "../socket/FakeSocketServer.ts"

interface Behaviour {
  /** Words count from their utterance instead of from the session. */
  readonly fromUtterance?: boolean
  /** Without the second message of a commit. */
  readonly untimed?: boolean
  /** Instead of an answer to a commit. */
  readonly onCommit?: (socket: WebSocket) => void
}

const loud = new Int16Array(16_000).fill(9000)

/** Hears the next of the texts in each audible utterance. */
const setUp = Effect.fnUntraced(function* (
  texts: ReadonlyArray<string>,
  { fromUtterance = false, onCommit, untimed = false }: Behaviour = {},
  settings: Partial<ElevenLabsSettings> = {}
) {
  const left = [...texts]
  const server = yield* makeFakeSocketServer((socket) => {
    const json = (message: unknown) => socket.send(JSON.stringify(message))
    let [startMs, ms, audible] = [0, 0, false]
    json({ message_type: "session_started", session_id: "1" })
    onFrame(socket, (frame) => {
      if (Buffer.isBuffer(frame)) return
      const audio = Buffer.from(String(frame["audio_base_64"]), "base64")
      ms += audio.length / 32
      audible ||= audio.some((byte) => byte !== 0)
      if (frame["commit"] !== true) {
        if (audible && ms >= 500) json({ message_type: "partial_transcript", text: left[0]?.split(" ")[0] ?? "" })
        return
      }
      if (onCommit !== undefined) return onCommit(socket)
      const text = audible ? (left.shift() ?? "") : ""
      const words = text.split(" ").filter(Boolean)
      const base = fromUtterance ? 0 : startMs
      json({ message_type: "committed_transcript", text })
      if (!untimed) {
        json({
          message_type: "committed_transcript_with_timestamps",
          text,
          language_code: "en",
          words: words.flatMap((word, i) => [
            {
              text: word,
              type: "word",
              start: (base + (i * ms) / words.length) / 1000,
              end: (base + ((i + 1) * ms) / words.length) / 1000
            },
            { text: " ", type: "spacing", start: null, end: null }
          ])
        })
      }
      startMs += ms
      ;[ms, audible] = [0, false]
    })
  })
  const transcriber = makeElevenLabsTranscriber({
    baseUrl: server.baseUrl,
    model: "ears-1",
    openMs: 1500,
    finalMs: 1500,
    ...settings
  })
  return { server, transcriber }
})

const hear = [
  { samples: loud, expected: "good morning" },
  { samples: loud, expected: "see you later" }
]
for (const behaviour of [{}, { fromUtterance: true }]) {
  transcriberCases(
    `elevenlabs ${JSON.stringify(behaviour)}`,
    Effect.map(setUp(["good morning", "see you later"], behaviour), ({ transcriber }) => transcriber),
    hear
  )
}

const said = (message: unknown) => (socket: WebSocket) => socket.send(JSON.stringify(message))

describe("ElevenLabsTranscriber", () => {
  it.live("asks as the protocol has it, shows partials, gives words and language", () =>
    Effect.gen(function* () {
      const { server, transcriber } = yield* setUp(["one two", "three four"], {}, { apiKey: Redacted.make("secret") })
      const { events, options } = transcriptLog("en-GB")
      const stream = yield* transcriber.open({ ...options, keyterms: ["Parley", "Zoë"] })
      for (const first of ["one", "three"]) {
        events.length = 0
        pushAll(stream, loud)
        yield* until(() => events.length > 0)
        expect(events[0]).toEqual({ _tag: "Partial", text: first })
        stream.commit()
        yield* until(() => finals(events).length === 1)
      }
      expect(finals(events)[0]).toEqual({
        _tag: "Final",
        text: "three four",
        language: "en",
        words: [
          { text: "three", startMs: 0, endMs: 500 },
          { text: "four", startMs: 500, endMs: 1000 }
        ]
      })
      const [request] = server.requests
      expect(request?.url.pathname).toBe("/base/v1/speech-to-text/realtime")
      expect(request?.headers["xi-api-key"]).toBe("secret")
      expect([...(request?.url.searchParams ?? [])]).toEqual([
        ["model_id", "ears-1"],
        ["commit_strategy", "manual"],
        ["audio_format", "pcm_16000"],
        ["include_timestamps", "true"],
        ["language_code", "en"],
        ["keyterms", "Parley"],
        ["keyterms", "Zoë"]
      ])
    })
  )

  it.live("answers a commit whose word times never come without words", () =>
    Effect.gen(function* () {
      const { transcriber } = yield* setUp(["one two", "three"], { untimed: true })
      const { events, failures, options } = transcriptLog()
      const stream = yield* transcriber.open(options)
      for (let i = 0; i < 2; i++) {
        pushAll(stream, loud)
        stream.commit()
      }
      yield* until(() => finals(events).length === 2)
      expect(finals(events).map(({ text, words }) => ({ text, words }))).toEqual([
        { text: "one two", words: [] },
        { text: "three", words: [] }
      ])
      expect(failures).toEqual([])
    })
  )

  it.live("takes a commit that was too short for the service as empty", () =>
    Effect.gen(function* () {
      const { transcriber } = yield* setUp([], {
        onCommit: said({ message_type: "commit_throttled", error: "too little audio" })
      })
      const { events, options } = transcriptLog()
      const stream = yield* transcriber.open(options)
      stream.push(loud.subarray(0, 800))
      stream.commit()
      yield* until(() => finals(events).length === 1)
      expect(events).toEqual([{ _tag: "Final", text: "", words: [] }])
    })
  )

  it.live.each([
    ["dead", "Unavailable"],
    ["hangs", "Timeout"],
    [401, "Unauthorized"],
    [429, "Overloaded"],
    [500, "Unavailable"]
  ] as const)("a handshake that is %s is %s", ([handshake, reason]) =>
    Effect.gen(function* () {
      const { server, transcriber } = yield* setUp([], {}, { openMs: 400 })
      server.handshake(handshake)
      const { failures, options } = transcriptLog()
      expect(yield* Effect.flip(transcriber.open(options))).toMatchObject({ reason, provider: "elevenlabs" })
      expect(failures).toEqual([])
    })
  )

  it.live.each([
    ["no answer", () => {}, "Timeout"],
    ["a lost connection", (socket: WebSocket) => socket.terminate(), "Unavailable"],
    ["a close", (socket: WebSocket) => socket.close(1011), "Unavailable"],
    ["garbage", (socket: WebSocket) => socket.send("<html>"), "InvalidOutput"],
    ["nonsense", said({ message_type: 5 }), "InvalidOutput"],
    ["a wrong key", said({ message_type: "auth_error", error: "no" }), "Unauthorized"],
    ["a full quota", said({ message_type: "quota_exceeded", error: "Payment required", code: 402 }), "Overloaded"],
    ["overload", said({ message_type: "rate_limited", error: "no" }), "Overloaded"],
    ["an error", said({ message_type: "error", error: "no", code: 503 }), "Unavailable"]
  ] as const)("%s kills the stream once", ([, onCommit, reason]) =>
    Effect.gen(function* () {
      const { server, transcriber } = yield* setUp([], { onCommit }, { finalMs: 400 })
      const { events, failures, options } = transcriptLog()
      const stream = yield* transcriber.open(options)
      stream.push(loud.subarray(0, 4000))
      stream.commit()
      yield* until(() => failures.length > 0)
      stream.push(loud)
      stream.commit()
      yield* until(() => server.open() === 0)
      yield* Effect.sleep(50)
      expect(failures).toMatchObject([{ provider: "elevenlabs", reason }])
      expect(finals(events)).toEqual([])
    })
  )

  it.live("closes its socket with the call", () =>
    Effect.gen(function* () {
      const { server, transcriber } = yield* setUp([])
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* transcriber.open(transcriptLog().options)
          expect(server.open()).toBe(1)
        })
      )
      yield* until(() => server.open() === 0)
    })
  )
})
