import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import type { WebSocket } from "ws"
import { makeDeepgramTranscriber } from "../../src/deepgram/DeepgramTranscriber.ts"
import type { DeepgramSettings } from "../../src/deepgram/DeepgramTranscriber.ts"
import { finals, transcriptLog, pushAll, transcriberCases, until } from "../cases/transcriberCases.ts"
import { makeFakeSocketServer, onFrame } from "../socket/FakeSocketServer.ts"

interface Behaviour {
  /** Finalize is answered only by the results, as with little audio. */
  readonly unmarked?: boolean
  /** Instead of an answer to Finalize. */
  readonly onFinalize?: (socket: WebSocket) => void
}

const loud = new Int16Array(16_000).fill(9000)

/** Hears the next of the texts in each stretch of sound between two Finalizes. */
const setUp = Effect.fnUntraced(function* (
  texts: ReadonlyArray<string>,
  { onFinalize, unmarked = false }: Behaviour = {},
  settings: Partial<DeepgramSettings> = {}
) {
  const left = [...texts]
  const types: Array<string> = []
  const server = yield* makeFakeSocketServer((socket) => {
    let [startMs, ms, audible] = [0, 0, false]
    const results = (text: string, marks: object) => {
      const words = text.split(" ").filter(Boolean)
      socket.send(
        JSON.stringify({
          type: "Results",
          start: startMs / 1000,
          duration: ms / 1000,
          ...marks,
          channel: {
            alternatives: [
              {
                transcript: text,
                words: words.map((word, i) => ({
                  word,
                  start: (startMs + (i * ms) / words.length) / 1000,
                  end: (startMs + ((i + 1) * ms) / words.length) / 1000
                }))
              }
            ]
          }
        })
      )
    }
    socket.send(JSON.stringify({ type: "Metadata", request_id: "1" }))
    onFrame(socket, (frame) => {
      if (Buffer.isBuffer(frame)) {
        ms += frame.length / 32
        audible ||= frame.some((byte) => byte !== 0)
        if (audible && ms >= 500) results(left[0]?.split(" ")[0] ?? "", { is_final: false })
        return
      }
      types.push(String(frame["type"]))
      if (frame["type"] === "CloseStream") return socket.close(1000)
      if (frame["type"] !== "Finalize") return
      if (onFinalize !== undefined) return onFinalize(socket)
      const text = audible ? (left.shift() ?? "") : ""
      if (ms > 0) results(text, { is_final: true, ...(unmarked ? {} : { from_finalize: true }) })
      startMs += ms
      ;[ms, audible] = [0, false]
    })
  })
  const transcriber = makeDeepgramTranscriber({
    baseUrl: server.baseUrl,
    model: "nova-3",
    openMs: 1500,
    finalMs: 1500,
    quietMs: 200,
    ...settings
  })
  return { server, transcriber, types }
})

for (const behaviour of [{}, { unmarked: true }]) {
  transcriberCases(
    `deepgram ${JSON.stringify(behaviour)}`,
    Effect.map(setUp(["good morning", "see you later"], behaviour), ({ transcriber }) => transcriber),
    [
      { samples: loud, expected: "good morning" },
      { samples: loud, expected: "see you later" }
    ]
  )
}

const said = (message: unknown) => (socket: WebSocket) => socket.send(JSON.stringify(message))

describe("DeepgramTranscriber", () => {
  it.live("asks as the protocol has it, shows partials, times words in their utterance", () =>
    Effect.gen(function* () {
      const { server, transcriber, types } = yield* setUp(
        ["one two", "three four"],
        {},
        { apiKey: Redacted.make("key") }
      )
      const { events, options } = transcriptLog("en-GB")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const stream = yield* transcriber.open({ ...options, keyterms: ["Parley"] })
          for (const first of ["one", "three"]) {
            events.length = 0
            pushAll(stream, loud)
            yield* until(() => events.length > 0)
            expect(events[0]).toEqual({ _tag: "Partial", text: first })
            stream.commit()
            yield* until(() => finals(events).length === 1)
          }
        })
      )
      expect(finals(events)[0]).toEqual({
        _tag: "Final",
        text: "three four",
        words: [
          { text: "three", startMs: 0, endMs: 500 },
          { text: "four", startMs: 500, endMs: 1000 }
        ]
      })
      const [request] = server.requests
      expect(request?.url.pathname).toBe("/base/v1/listen")
      expect(request?.headers.authorization).toBe("Token key")
      expect(Object.fromEntries(request?.url.searchParams ?? [])).toEqual({
        model: "nova-3",
        encoding: "linear16",
        sample_rate: "16000",
        channels: "1",
        interim_results: "true",
        punctuate: "true",
        language: "en-GB",
        keyterm: "Parley"
      })
      yield* until(() => types.includes("CloseStream"))
      expect(types).toEqual(["KeepAlive", "Finalize", "Finalize", "CloseStream"])
    })
  )

  it.live("answers a commit without a mark by what was heard", () =>
    Effect.gen(function* () {
      // Half of the utterance was final before; of its end nothing is said any more.
      const results = {
        type: "Results",
        start: 0,
        duration: 0.5,
        is_final: true,
        channel: { alternatives: [{ transcript: "half", words: [{ word: "half", start: 0.1, end: 0.4 }] }] }
      }
      const { transcriber } = yield* setUp([], { onFinalize: said(results) })
      const { events, failures, options } = transcriptLog()
      const stream = yield* transcriber.open(options)
      stream.push(loud)
      stream.commit()
      yield* until(() => finals(events).length === 1)
      expect(finals(events)[0]).toMatchObject({ text: "half", words: [{ startMs: 100, endMs: 400 }] })
      expect(failures).toEqual([])
    })
  )

  it.live.each([
    ["dead", "Unavailable"],
    ["hangs", "Timeout"],
    [401, "Unauthorized"],
    [402, "Overloaded"],
    [429, "Overloaded"],
    [500, "Unavailable"]
  ] as const)("a handshake that is %s is %s", ([handshake, reason]) =>
    Effect.gen(function* () {
      const { server, transcriber } = yield* setUp([], {}, { openMs: 400 })
      server.handshake(handshake)
      expect(yield* Effect.flip(transcriber.open(transcriptLog().options))).toMatchObject({
        reason,
        provider: "deepgram"
      })
    })
  )

  it.live.each([
    ["no answer to a voice", () => {}, "Timeout"],
    ["a lost connection", (socket: WebSocket) => socket.terminate(), "Unavailable"],
    ["a close", (socket: WebSocket) => socket.close(1011), "Unavailable"],
    ["garbage", (socket: WebSocket) => socket.send("<html>"), "InvalidOutput"],
    ["nonsense", said({ type: "Results", start: "x" }), "InvalidOutput"],
    ["an error", said({ type: "Error", description: "no" }), "Unavailable"]
  ] as const)("%s kills the stream once", ([, onFinalize, reason]) =>
    Effect.gen(function* () {
      const { server, transcriber } = yield* setUp([], { onFinalize }, { finalMs: 400 })
      const { events, failures, options } = transcriptLog()
      const stream = yield* transcriber.open(options)
      stream.push(loud.subarray(0, 4000))
      stream.commit()
      yield* until(() => failures.length > 0)
      stream.push(loud)
      stream.commit()
      yield* until(() => server.open() === 0)
      yield* Effect.sleep(50)
      expect(failures).toMatchObject([{ provider: "deepgram", reason }])
      expect(finals(events)).toEqual([])
    })
  )
})
