import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Queue, Stream } from "effect"
import { TestClock } from "effect/testing"
import { SpeechError } from "../../src/ports/SpeechError.ts"
import { Synthesis } from "../../src/Synthesis.ts"
import type { SpeechInput, SynthesisEvent, SynthesisSettings } from "../../src/Synthesis.ts"
import { makeFakeEncoderPool } from "../../src/testing/FakeEncoderPool.ts"
import { scriptedSpeech } from "../../src/testing/ScriptedSpeech.ts"
import { makeScriptedSynthesizer } from "../../src/testing/ScriptedSynthesizer.ts"
import { nonsense } from "../text/Arbitrary.ts"

const settings: SynthesisSettings = {
  voices: [{ id: "tone" }],
  language: "en",
  format: { codec: "pcm", sampleRate: 24000 },
  speed: 1,
  volumeDb: 0,
  normalizeLoudness: false,
  normalize: true,
  latency: "normal",
  chunkLength: 200,
  minChunkLength: 0,
  cues: "none",
  timing: true,
  extra: {}
}

const house = (
  script: Parameters<typeof makeScriptedSynthesizer>[0] = {},
  lines: Parameters<typeof makeFakeEncoderPool>[0] = {}
) => {
  const synthesizer = makeScriptedSynthesizer({ firstAudioMs: 0, ...script })
  const soundLines = makeFakeEncoderPool(lines)
  const layer = Synthesis.layer.pipe(Layer.provide([scriptedSpeech({ synthesizer }), soundLines.layer]))
  return { synthesizer, lines: soundLines, layer }
}

const text = (value: string): SpeechInput => ({ _tag: "Text", text: value })

const speak = (input: ReadonlyArray<SpeechInput>, changes: Partial<SynthesisSettings> = {}) =>
  Effect.gen(function* () {
    const { speak } = yield* Synthesis
    return [...(yield* Stream.runCollect(speak({ ...settings, ...changes }, Stream.fromIterable(input))))]
  })

/** The last timing of each chunk. */
const timings = (events: ReadonlyArray<SynthesisEvent>) => {
  const last = new Map<number, Extract<SynthesisEvent, { readonly _tag: "Timing" }>>()
  for (const event of events) if (event._tag === "Timing") last.set(event.chunk, event)
  return [...last.values()]
}

const soundMs = (events: ReadonlyArray<SynthesisEvent>) =>
  events.reduce((sum, event) => sum + (event._tag === "Audio" ? event.bytes.length / 48 : 0), 0)

describe("Synthesis", () => {
  it.effect("cuts each chunk off where it may not sound any longer, words and all", () => {
    const { layer } = house()
    return Effect.gen(function* () {
      const long = [text("One two three four five six seven eight. Nine ten eleven twelve thirteen.")]
      const whole = timings(yield* speak(long, { latency: "normal", minChunkLength: 0, chunkLength: 100 }))
      const events = yield* speak(long, { longestChunkMs: 300, chunkLength: 100 })
      const cut = timings(events)
      expect(cut.length).toBe(whole.length)
      expect(whole.every(({ durationMs }) => durationMs > 300)).toBe(true)
      for (const { durationMs, words } of cut) {
        expect(durationMs).toBeLessThan(600)
        expect(words.every(({ endMs }) => endMs <= durationMs)).toBe(true)
      }
      expect(soundMs(events)).toBeLessThan(cut.length * 600)
    }).pipe(Effect.provide(layer))
  })

  it.effect("speaks chunk after chunk; contents, offsets and words fit the text and the sound", () => {
    const { layer, lines, synthesizer } = house()
    const said = "Hello dear world. How are you today? 😀"
    return Effect.gen(function* () {
      const events = yield* speak([text(said)])
      const chunks = timings(events)
      expect(chunks.map(({ content }) => content).join("")).toBe(said)
      expect(synthesizer.requests.map(({ text, urgent }) => [text, urgent])).toEqual([
        ["Hello dear world.", true],
        ["How are you today? 😀", false]
      ])
      let offsetMs = 0
      for (const chunk of chunks) {
        expect(chunk.offsetMs).toBeCloseTo(offsetMs)
        offsetMs += chunk.durationMs
        for (const word of chunk.words) {
          expect(chunk.content.slice(word.from, word.to)).toBe(word.text)
          expect(word.startMs).toBeGreaterThanOrEqual(0)
          expect(word.endMs).toBeLessThanOrEqual(chunk.durationMs)
          expect(word.exact).toBe(true)
        }
      }
      expect(chunks[0]?.words.map((word) => [word.text, word.startMs, word.endMs])).toEqual([
        ["Hello", 0, 300],
        ["dear", 360, 600],
        ["world.", 660, 1020]
      ])
      expect(soundMs(events)).toBeCloseTo(offsetMs)
      expect(lines.running()).toBe(0)
    }).pipe(Effect.provide(layer))
  })

  it.effect("gives no times where none are wanted, and says so to the engine", () => {
    const { layer, synthesizer } = house()
    return Effect.gen(function* () {
      const events = yield* speak([text("Hello.")], { timing: false })
      expect(events.every(({ _tag }) => _tag === "Audio")).toBe(true)
      expect(synthesizer.requests[0]?.words).toBe(false)
    }).pipe(Effect.provide(layer))
  })

  it.effect("estimates the times that the engine does not tell", () => {
    const { layer } = house({ words: "none" })
    return Effect.gen(function* () {
      const [chunk] = timings(yield* speak([text("Hello dear world.")]))
      expect(chunk?.words.map((word) => [word.text, word.exact])).toEqual([
        ["Hello", false],
        ["dear", false],
        ["world.", false]
      ])
      expect(chunk?.words.at(-1)?.endMs).toBeCloseTo(chunk?.durationMs ?? 0)
    }).pipe(Effect.provide(layer))
  })

  it.effect("switches voices at speaker tags, which are not spoken; the first voice serves unknown numbers", () => {
    const { layer, synthesizer } = house()
    return Effect.gen(function* () {
      const said = "Hi.<|speaker:1|>Hello [softly] you.<|speaker:7|>Bye."
      const voices = [{ id: "a" }, { id: "b" }] as const
      const events = yield* speak([text(said)], { voices, cues: "brackets" })
      expect(synthesizer.requests.map(({ text, voice }) => [voice, text])).toEqual([
        ["a", "Hi."],
        ["b", "Hello you."],
        ["a", "Bye."]
      ])
      expect(
        timings(events)
          .map(({ content }) => content)
          .join("")
      ).toBe(said)
      expect(timings(events)[1]?.words.map((word) => word.text)).toEqual(["Hello", "you."])
    }).pipe(Effect.provide(layer))
  })

  it.effect("lets all of it be heard at a flush, the codec's silence included, and goes on", () => {
    const { layer } = house({}, { paddingMs: 24 })
    return Effect.gen(function* () {
      const events = yield* speak([text("One"), { _tag: "Flush" }, text("Two."), { _tag: "Flush" }])
      const flushes = events.flatMap((event, i) => (event._tag === "Flushed" ? [i] : []))
      expect(flushes).toHaveLength(2)
      expect(events.slice(0, flushes[0]).some((event) => event._tag === "Audio" && event.chunk === 0)).toBe(true)
      const [one, two] = timings(events)
      expect(one?.durationMs).toBeCloseTo(3 * 60 + 24)
      expect(two?.offsetMs).toBeCloseTo(one?.durationMs ?? 0)
    }).pipe(Effect.provide(layer))
  })

  it.effect("makes a valid file of no sound out of nothing to say", () => {
    const trailer = new Uint8Array([1])
    const { layer, synthesizer } = house({}, { trailer })
    return Effect.gen(function* () {
      for (const said of ["", "  ", "🎉 — ..."]) {
        const events = yield* speak([text(said)])
        expect(events.filter(({ _tag }) => _tag === "Audio")).toEqual([
          { _tag: "Audio", chunk: 0, offsetMs: 0, bytes: trailer }
        ])
        expect(timings(events).map(({ content, durationMs, words }) => [content, durationMs, words])).toEqual(
          said === "" ? [] : [[said, 0, []]]
        )
      }
      expect(synthesizer.requests).toEqual([])
    }).pipe(Effect.provide(layer))
  })

  it.effect("works at most two chunks ahead of the reader, and starts nothing before the first pull", () => {
    const { layer, synthesizer } = house()
    return Effect.gen(function* () {
      const { speak } = yield* Synthesis
      const sentences = Array.from({ length: 9 }, (_, i) => `Sentence number ${"abcdefghi"[i]}. `).join("")
      const stream = speak(settings, Stream.make(text(sentences)))
      expect(synthesizer.requests).toHaveLength(0)
      const pull = yield* Stream.toPull(stream)
      const fiber = yield* Effect.forkChild(pull)
      for (let i = 0; i < 20; i++) yield* TestClock.adjust(10)
      yield* Fiber.join(fiber)
      expect(synthesizer.requests).toHaveLength(3)
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("stops the engine and frees the encoder with the reader", () => {
    const { layer, lines, synthesizer } = house({ realtimeFactor: 1 })
    return Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(speak([text("A long sentence that takes a while to be spoken.")]))
      yield* TestClock.adjust(500)
      expect([synthesizer.running(), lines.running()]).toEqual([1, 1])
      yield* Fiber.interrupt(fiber)
      expect([synthesizer.running(), synthesizer.interrupted(), lines.running()]).toEqual([0, 1, 0])
    }).pipe(Effect.provide(layer))
  })

  it.effect("speaks as the text comes", () => {
    const { layer, synthesizer } = house()
    return Effect.gen(function* () {
      const { speak } = yield* Synthesis
      const input = yield* Queue.unbounded<SpeechInput>()
      const fiber = yield* Effect.forkChild(
        Stream.runHead(speak({ ...settings, latency: "balanced" }, Stream.fromQueue(input)))
      )
      yield* Queue.offer(input, text("Good morning to"))
      yield* TestClock.adjust(10)
      expect(synthesizer.requests).toHaveLength(0)
      yield* Queue.offer(input, text(" all of you, my friends"))
      yield* Fiber.join(fiber)
      expect(synthesizer.requests[0]?.text).toBe("Good morning to all of you,")
    }).pipe(Effect.provide(layer))
  })

  it.effect("speaks any text: contents are the text, words lie in them and in the sound, nothing fails", () => {
    const { layer } = house()
    return Effect.gen(function* () {
      for (let seed = 1; seed <= 150; seed++) {
        const said = nonsense(seed)
        const cues = (["none", "brackets", "parentheses"] as const)[seed % 3]!
        const language = ["en", "de", "fr", "es", ""][seed % 5]!
        const chunks = timings(yield* speak([text(said)], { cues, language, latency: "low" }))
        expect(chunks.map(({ content }) => content).join("")).toBe(said)
        for (const { content, durationMs, words } of chunks) {
          let before = { to: 0, startMs: 0, endMs: 0 }
          for (const word of words) {
            expect(content.slice(word.from, word.to)).toBe(word.text)
            expect(word.from).toBeGreaterThanOrEqual(before.to)
            expect(word.startMs).toBeGreaterThanOrEqual(before.startMs)
            expect(word.endMs).toBeGreaterThanOrEqual(Math.max(word.startMs, before.endMs))
            expect(word.endMs).toBeLessThanOrEqual(durationMs + 0.001)
            before = word
          }
        }
      }
    }).pipe(Effect.provide(layer))
  })

  it.effect.each([0, 200])("fails when the engine fails after %i ms of a later chunk's audio", (afterAudioMs) => {
    const error = new SpeechError({ reason: "Unavailable", provider: "scripted", message: "gone" })
    const { layer, lines } = house({ perRequest: (_, index) => (index === 1 ? { fail: { afterAudioMs, error } } : {}) })
    return Effect.gen(function* () {
      expect(yield* Effect.flip(speak([text("First one. Second one. Third one.")]))).toBe(error)
      expect(lines.running()).toBe(0)
    }).pipe(Effect.provide(layer))
  })
})
