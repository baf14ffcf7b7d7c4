import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { makeFailoverSynthesizer } from "../../src/failover/FailoverSynthesizer.ts"
import { makeFailoverTranscriber } from "../../src/failover/FailoverTranscriber.ts"
import { Candidate, healthOf } from "../../src/failover/ProviderHealth.ts"
import { SpeechError } from "../../src/ports/SpeechError.ts"
import type { SpeechErrorReason } from "../../src/ports/SpeechError.ts"
import type { Synthesizer } from "../../src/ports/Synthesizer.ts"
import type { Transcriber } from "../../src/ports/Transcriber.ts"
import { makeScriptedSynthesizer } from "../../src/testing/ScriptedSynthesizer.ts"
import type { SynthesisScript } from "../../src/testing/ScriptedSynthesizer.ts"
import { makeScriptedTranscriber } from "../../src/testing/ScriptedTranscriber.ts"
import { collect, phrase } from "../cases/synthesizerCases.ts"
import { transcriptLog } from "../cases/transcriberCases.ts"

const error = (reason: SpeechErrorReason, provider = "first") => new SpeechError({ reason, provider, message: "" })

const failing = (reason: SpeechErrorReason, afterAudioMs = 0): Partial<SynthesisScript> => ({
  fail: { afterAudioMs, error: error(reason) }
})

/** A second provider that always works, behind a first whose script the test chooses per request. */
const pair = (script: (index: number) => Partial<SynthesisScript> | undefined) => {
  const first = makeScriptedSynthesizer({ provider: "first", firstAudioMs: 0, perRequest: (_, i) => script(i) })
  const second = makeScriptedSynthesizer({ provider: "second", firstAudioMs: 0 })
  const candidates = [
    new Candidate<Synthesizer>("first", "First", first),
    new Candidate<Synthesizer>("second", "Second", second)
  ]
  return { first, second, candidates, both: makeFailoverSynthesizer(candidates, 30_000) }
}

describe("FailoverSynthesizer", () => {
  it.effect("serves from the first while it is healthy", () =>
    Effect.gen(function* () {
      const { both, first, second } = pair(() => undefined)
      yield* collect(both.synthesize(phrase))
      yield* collect(both.synthesize(phrase))
      expect([first.requests.length, second.requests.length]).toEqual([2, 0])
    })
  )

  it.effect.each(["Unavailable", "Timeout", "Unauthorized", "InvalidOutput"] as const)(
    "%s before the first audio moves on, puts the provider aside, and tries it again later",
    (reason) =>
      Effect.gen(function* () {
        const { both, candidates, first, second } = pair((i) => (i === 0 ? failing(reason) : undefined))
        expect((yield* collect(both.synthesize(phrase))).ms).toBeGreaterThan(500)
        expect(yield* healthOf(candidates)).toEqual([
          { provider: "first", label: "First", healthy: false, lastError: reason },
          { provider: "second", label: "Second", healthy: true }
        ])
        yield* collect(both.synthesize(phrase))
        expect([first.requests.length, second.requests.length]).toEqual([1, 2])
        yield* TestClock.adjust(30_000)
        yield* collect(both.synthesize(phrase))
        expect([first.requests.length, second.requests.length]).toEqual([2, 2])
        expect((yield* healthOf(candidates))[0]).toEqual({ provider: "first", label: "First", healthy: true })
      })
  )

  it.effect("a language it does not speak moves on without blame", () =>
    Effect.gen(function* () {
      const { both, candidates, first } = pair(() => failing("LanguageNotSupported"))
      yield* collect(both.synthesize(phrase))
      expect((yield* healthOf(candidates))[0]?.healthy).toBe(true)
      yield* collect(both.synthesize(phrase))
      expect(first.requests).toHaveLength(2)
    })
  )

  it.effect("a wrong request goes nowhere else", () =>
    Effect.gen(function* () {
      const { both, second } = pair(() => failing("BadRequest"))
      expect((yield* Effect.flip(collect(both.synthesize(phrase)))).reason).toBe("BadRequest")
      expect(second.requests).toHaveLength(0)
    })
  )

  it.effect("a failure in mid-phrase ends the phrase; the next phrase goes elsewhere", () =>
    Effect.gen(function* () {
      const { both, second } = pair(() => failing("Unavailable", 300))
      let chunks = 0
      const failed = yield* both.synthesize(phrase).pipe(
        Stream.runForEach(() => Effect.sync(() => chunks++)),
        Effect.flip
      )
      expect([failed.reason, chunks, second.requests.length]).toEqual(["Unavailable", 3, 0])
      yield* collect(both.synthesize(phrase))
      expect(second.requests).toHaveLength(1)
    })
  )

  it.effect("silence that calls itself success is a failure", () =>
    Effect.gen(function* () {
      const { both, candidates, second } = pair(() => ({ empty: true }))
      yield* collect(both.synthesize(phrase))
      expect(second.requests).toHaveLength(1)
      expect((yield* healthOf(candidates))[0]?.lastError).toBe("InvalidOutput")
    })
  )

  it.effect("while all are aside all are tried, and the last error is told", () =>
    Effect.gen(function* () {
      const only = makeScriptedSynthesizer({ firstAudioMs: 0, ...failing("Unavailable") })
      const alone = makeFailoverSynthesizer([new Candidate<Synthesizer>("only", "Only", only)])
      for (let i = 0; i < 2; i++)
        expect((yield* Effect.flip(collect(alone.synthesize(phrase)))).reason).toBe("Unavailable")
      expect(only.requests).toHaveLength(2)
      const none = makeFailoverSynthesizer([new Candidate<Synthesizer>("gone", "Gone", undefined, "Unavailable")])
      expect(yield* Effect.flip(collect(none.synthesize(phrase)))).toMatchObject({
        provider: "none",
        reason: "Unavailable"
      })
    })
  )

  it.effect("interrupting reaches the provider at work", () =>
    Effect.gen(function* () {
      const { both, first, second } = pair(() => ({ firstAudioMs: Infinity }))
      const fiber = yield* Effect.forkChild(Stream.runDrain(both.synthesize(phrase)), { startImmediately: true })
      yield* TestClock.adjust(10)
      yield* Fiber.interrupt(fiber)
      expect([first.interrupted(), first.running(), second.requests.length]).toEqual([1, 0, 0])
    })
  )

  it.effect("replaces a voice that only another provider knows", () =>
    Effect.gen(function* () {
      const { candidates, first } = pair(() => undefined)
      const other = { ...makeScriptedSynthesizer(), voices: [{ id: "nova", name: "Nova", language: "en" }] }
      const all = makeFailoverSynthesizer([...candidates, new Candidate<Synthesizer>("other", "Other", other)])
      for (const voice of ["nova", "tone", "never heard of"]) yield* collect(all.synthesize({ ...phrase, voice }))
      expect(first.requests.map((request) => request.voice)).toEqual(["", "tone", "never heard of"])
      expect(all.voices.map((voice) => voice.id)).toContain("nova")
    })
  )
})

describe("FailoverTranscriber", () => {
  const loud = new Int16Array(1600).fill(9000)

  it.effect("opens the next when one cannot, and avoids it for a while", () =>
    Effect.gen(function* () {
      const first = makeScriptedTranscriber({
        utterances: [],
        openFailure: (n) => (n === 0 ? error("Overloaded") : undefined)
      })
      const second = makeScriptedTranscriber({ utterances: ["from the second"], streaming: false })
      const candidates = [new Candidate("first", "First", first), new Candidate("second", "Second", second)]
      const both = makeFailoverTranscriber(candidates, 30_000)
      const { events, options } = transcriptLog()
      const stream = yield* both.open(options)
      stream.push(loud)
      stream.commit()
      yield* TestClock.adjust(200)
      expect(events).toMatchObject([{ _tag: "Final", text: "from the second" }])
      expect(yield* healthOf(candidates)).toMatchObject([
        { healthy: false, lastError: "Overloaded" },
        { healthy: true }
      ])
      yield* TestClock.adjust(3000)
      yield* both.open(options)
      expect([first.opened.length, second.opened.length]).toEqual([1, 1])
    })
  )

  it.effect("tells of a stream that dies, and serves the next open elsewhere", () =>
    Effect.gen(function* () {
      const first = makeScriptedTranscriber({ utterances: [] })
      const second = makeScriptedTranscriber({ utterances: [] })
      const both = makeFailoverTranscriber([new Candidate("first", "", first), new Candidate("second", "", second)])
      const { failures, options } = transcriptLog()
      yield* both.open(options)
      first.die(error("Unavailable"))
      expect(failures).toMatchObject([{ reason: "Unavailable" }])
      yield* both.open(options)
      expect([first.opened.length, second.opened.length]).toEqual([1, 1])
    })
  )

  it.effect("says clearly when there is nobody", () =>
    Effect.gen(function* () {
      const nobody = makeFailoverTranscriber([new Candidate<Transcriber>("pocketsphinx", "", undefined, "Unavailable")])
      expect(yield* Effect.flip(nobody.open(transcriptLog().options))).toMatchObject({
        reason: "Unavailable",
        message: "no speech recognition is available"
      })
      expect([nobody.provider, nobody.streaming]).toEqual(["none", false])
    })
  )
})
