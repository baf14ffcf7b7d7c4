import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { makeOpenAiTranscriber } from "../../src/openai/OpenAiTranscriber.ts"
import type { OpenAiEndpoint } from "../../src/openai/OpenAiEndpoint.ts"
import { makeFakeOpenAiAudio } from "../../src/testing/FakeOpenAiAudio.ts"
import type { Behaviour } from "../../src/testing/FakeOpenAiAudio.ts"
import { finals, transcriptLog, transcriberCases, until } from "../cases/transcriberCases.ts"

const loud = new Int16Array(16_000).fill(9000)

const setUp = Effect.fnUntraced(function* (
  transcripts: ReadonlyArray<string>,
  settings: Partial<OpenAiEndpoint> & { readonly delayMs?: number } = {}
) {
  const { delayMs, ...endpoint } = settings
  const fake = yield* makeFakeOpenAiAudio({ transcripts, ...(delayMs === undefined ? {} : { delayMs }) })
  const transcriber = makeOpenAiTranscriber({
    baseUrl: fake.baseUrl,
    model: "ears-1",
    firstByteMs: 1500,
    gapMs: 250,
    ...endpoint
  })
  return { fake, transcriber }
})

transcriberCases(
  "openai",
  Effect.map(setUp(["good morning", "see you later"]), ({ transcriber }) => transcriber),
  [
    { samples: loud, expected: "good morning" },
    { samples: loud, expected: "see you later" }
  ]
)

describe("OpenAiTranscriber", () => {
  it.live("posts the utterance as WAV with model, language, key terms and word times asked for", () =>
    Effect.gen(function* () {
      const { fake, transcriber } = yield* setUp(["hello there"], {
        apiKey: Redacted.make("secret"),
        extraBody: { temperature: 0 }
      })
      const { events, options } = transcriptLog("en-GB")
      const stream = yield* transcriber.open({ ...options, keyterms: ["Parley", "Zoë"] })
      stream.push(loud)
      stream.push(loud.subarray(0, 8000))
      stream.commit()
      yield* until(() => events.length === 1)
      expect(fake.requests[0]).toMatchObject({
        path: "/v1/audio/transcriptions",
        authorization: "Bearer secret",
        fields: {
          model: "ears-1",
          language: "en",
          prompt: "Parley, Zoë",
          response_format: "verbose_json",
          "timestamp_granularities[]": "word",
          temperature: "0"
        }
      })
      expect(fake.requests[0]?.samples).toHaveLength(24_000)
      expect(events[0]).toEqual({
        _tag: "Final",
        language: "en",
        text: "hello there",
        words: [
          { text: "hello", startMs: 0, endMs: 750 },
          { text: "there", startMs: 750, endMs: 1500 }
        ]
      })
    })
  )

  it.live("asks nobody about silence", () =>
    Effect.gen(function* () {
      const { fake, transcriber } = yield* setUp(["invented"])
      const { events, options } = transcriptLog()
      const stream = yield* transcriber.open(options)
      stream.push(new Int16Array(32_000).fill(20))
      stream.commit()
      yield* until(() => events.length === 1)
      expect(events[0]).toEqual({ _tag: "Final", text: "", words: [] })
      expect(fake.requests).toEqual([])
    })
  )

  it.live("keeps the newest two minutes and true word times", () =>
    Effect.gen(function* () {
      const { fake, transcriber } = yield* setUp(["late"])
      const { events, options } = transcriptLog()
      const stream = yield* transcriber.open(options)
      for (let second = 0; second < 130; second++) stream.push(loud)
      stream.commit()
      yield* until(() => events.length === 1)
      expect(fake.requests[0]?.samples).toHaveLength(120 * 16_000)
      expect(finals(events)[0]?.words).toEqual([{ text: "late", startMs: 10_000, endMs: 130_000 }])
    })
  )

  const failures: ReadonlyArray<readonly [ReadonlyArray<Behaviour>, string, number]> = [
    [["dead", "dead"], "Unavailable", 2],
    [[500, 500], "Unavailable", 2],
    [[429, 429], "Overloaded", 2],
    [[401], "Unauthorized", 1],
    [[400], "BadRequest", 1],
    [["hangs"], "Timeout", 1],
    [["drips"], "Timeout", 1],
    [["empty"], "InvalidOutput", 1],
    [["page"], "InvalidOutput", 1],
    [["liar"], "InvalidOutput", 1],
    [["breaks"], "Unavailable", 1]
  ]
  it.live.each(failures)("%j kills the stream once as %s after %i requests", ([behaviours, reason, requests]) =>
    Effect.gen(function* () {
      const { fake, transcriber } = yield* setUp(["a", "b"])
      fake.behave(...behaviours)
      const { events, failures, options } = transcriptLog()
      const stream = yield* transcriber.open(options)
      stream.push(loud)
      stream.commit()
      stream.push(loud)
      stream.commit()
      yield* until(() => failures.length > 0)
      stream.push(loud)
      stream.commit()
      yield* Effect.sleep(50)
      expect(failures).toMatchObject([{ provider: "openai", reason }])
      expect(events).toEqual([])
      expect(fake.requests).toHaveLength(requests)
    })
  )

  it.live("meets a refused connection with Unavailable, and with nothing that nobody can catch", () =>
    Effect.gen(function* () {
      const { transcriber } = yield* setUp([], { baseUrl: "http://127.0.0.1:9/v1" })
      for (let i = 0; i < 5; i++) {
        const { failures, options } = transcriptLog("en")
        const stream = yield* transcriber.open(options)
        for (let second = 0; second < 20; second++) stream.push(loud)
        stream.commit()
        yield* until(() => failures.length === 1)
        expect(failures[0]?.reason).toBe("Unavailable")
      }
    })
  )

  it.live("dies as overloaded instead of queueing without end", () =>
    Effect.gen(function* () {
      const { transcriber } = yield* setUp([], { delayMs: 300 })
      const { failures, options } = transcriptLog()
      const stream = yield* transcriber.open(options)
      for (let i = 0; i < 12; i++) {
        stream.push(loud)
        stream.commit()
      }
      yield* until(() => failures.length > 0)
      expect(failures).toMatchObject([{ reason: "Overloaded" }])
    })
  )

  it.live("takes its request back when the call ends", () =>
    Effect.gen(function* () {
      const { fake, transcriber } = yield* setUp([])
      fake.behave("hangs")
      const { options } = transcriptLog()
      yield* Effect.scoped(
        Effect.gen(function* () {
          const stream = yield* transcriber.open(options)
          stream.push(loud)
          stream.commit()
          yield* until(() => fake.requests.length === 1)
          yield* Effect.sleep(30)
        })
      )
      yield* until(() => fake.abandoned() === 1, 1000)
    })
  )
})
