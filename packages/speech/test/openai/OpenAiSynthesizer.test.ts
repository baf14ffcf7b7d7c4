import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, Stream } from "effect"
import { makeOpenAiSynthesizer } from "../../src/openai/OpenAiSynthesizer.ts"
import type { OpenAiSpeechSettings } from "../../src/openai/OpenAiSynthesizer.ts"
import { makeFakeOpenAiAudio } from "../../src/testing/FakeOpenAiAudio.ts"
import type { Behaviour } from "../../src/testing/FakeOpenAiAudio.ts"
import { collect, phrase, synthesizerCases } from "../cases/synthesizerCases.ts"
import { until } from "../cases/transcriberCases.ts"

const setUp = Effect.fnUntraced(function* (settings: Partial<OpenAiSpeechSettings> = {}) {
  const fake = yield* makeFakeOpenAiAudio()
  const synthesizer = makeOpenAiSynthesizer({
    baseUrl: fake.baseUrl,
    model: "voice-1",
    firstByteMs: 1500,
    gapMs: 250,
    ...settings
  })
  return { fake, synthesizer }
})

synthesizerCases(
  "openai",
  Effect.map(setUp(), ({ synthesizer }) => synthesizer)
)

describe("OpenAiSynthesizer", () => {
  it.live("asks for PCM with the configured model, key, voice and extra fields", () =>
    Effect.gen(function* () {
      const { fake, synthesizer } = yield* setUp({
        apiKey: Redacted.make("secret"),
        voice: "verse",
        voices: [{ id: "nova", name: "Nova", language: "en" }],
        extraBody: { instructions: "calm" }
      })
      yield* collect(synthesizer.synthesize({ ...phrase, voice: "nova", extra: { temperature: 0.5 } }))
      yield* collect(synthesizer.synthesize({ ...phrase, voice: "absent" }))
      expect(fake.requests[0]).toMatchObject({
        path: "/v1/audio/speech",
        authorization: "Bearer secret",
        fields: {
          model: "voice-1",
          input: phrase.text,
          voice: "nova",
          response_format: "pcm",
          instructions: "calm",
          temperature: 0.5
        }
      })
      expect(fake.requests[1]?.fields["voice"]).toBe("verse")
    })
  )

  it.live("gives the same samples however the network cuts them", () =>
    Effect.gen(function* () {
      const { synthesizer } = yield* setUp()
      const { audio, ms } = yield* collect(synthesizer.synthesize(phrase))
      expect(ms).toBe(phrase.text.length * 60)
      const all = audio.flatMap((chunk) => Array.from(chunk.samples))
      expect(all[100]).toBe(Math.trunc(8000 * Math.sin((2 * Math.PI * 440 * 100) / 24_000)))
      expect(all[40_001]).toBe(Math.trunc(8000 * Math.sin((2 * Math.PI * 440 * 40_001) / 24_000)))
    })
  )

  const failures: ReadonlyArray<readonly [ReadonlyArray<Behaviour>, string, number]> = [
    [["dead", "dead"], "Unavailable", 2],
    [[500, 503], "Unavailable", 2],
    [[404, 404], "Unavailable", 2],
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
  it.live.each(failures)("%j ends as %s after %i requests", ([behaviours, reason, requests]) =>
    Effect.gen(function* () {
      const { fake, synthesizer } = yield* setUp()
      fake.behave(...behaviours)
      const error = yield* Effect.flip(collect(synthesizer.synthesize(phrase)))
      expect(error).toMatchObject({ _tag: "SpeechError", provider: "openai", reason })
      expect(error.message).not.toContain("127.0.0.1")
      expect(fake.requests).toHaveLength(requests)
    })
  )

  it.live("tries once more before the first byte, and then succeeds", () =>
    Effect.gen(function* () {
      const { fake, synthesizer } = yield* setUp()
      fake.behave("dead", "works", 503, "works")
      expect((yield* collect(synthesizer.synthesize(phrase))).ms).toBe(phrase.text.length * 60)
      expect((yield* collect(synthesizer.synthesize(phrase))).ms).toBe(phrase.text.length * 60)
      expect(fake.requests).toHaveLength(4)
    })
  )

  it.live("does not count the time its consumer takes", () =>
    Effect.gen(function* () {
      const { synthesizer } = yield* setUp({ gapMs: 60 })
      let chunks = 0
      yield* Stream.runForEach(synthesizer.synthesize({ ...phrase, text: "a long text ".repeat(40) }), () =>
        chunks++ < 4 ? Effect.sleep(100) : Effect.void
      )
      expect(chunks).toBeGreaterThan(3)
    })
  )

  it.live("takes its request back at once when interrupted", () =>
    Effect.gen(function* () {
      const { fake, synthesizer } = yield* setUp({ gapMs: 60_000 })
      for (const behaviour of ["hangs", "drips"] as const) {
        fake.behave(behaviour)
        const fiber = yield* Effect.forkChild(Stream.runDrain(synthesizer.synthesize(phrase)))
        const before = fake.requests.length
        yield* until(() => fake.requests.length > before)
        yield* Effect.sleep(30)
        const gone = fake.abandoned()
        yield* Fiber.interrupt(fiber)
        yield* until(() => fake.abandoned() === gone + 1, 1000)
      }
    })
  )

  it.live("answers in bounded time when nobody listens there", () =>
    Effect.gen(function* () {
      const synthesizer = makeOpenAiSynthesizer({ baseUrl: "http://127.0.0.1:9/v1", model: "m", firstByteMs: 1000 })
      expect(yield* Effect.flip(collect(synthesizer.synthesize(phrase)))).toMatchObject({ reason: "Unavailable" })
    })
  )
})
