import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { encodeWav } from "@parley/audio/Wav"
import { findPocketSphinx } from "../../src/pocketsphinx/PocketSphinxInstallation.ts"
import { SpeechError } from "../../src/ports/SpeechError.ts"
import { Recognition } from "../../src/Recognition.ts"
import { Speech } from "../../src/Speech.ts"
import { fakeUploadedAudio } from "../../src/testing/FakeUploadedAudio.ts"
import { scriptedSpeech } from "../../src/testing/ScriptedSpeech.ts"
import { makeScriptedTranscriber } from "../../src/testing/ScriptedTranscriber.ts"
import { speakToWav, withSilence } from "../../src/testing/speakToWav.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "recognition-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const fileOf = (samples: Int16Array) =>
  Effect.map(folder, (path) => {
    const file = join(path, "speech.wav")
    writeFileSync(file, encodeWav(samples, 16_000))
    return file
  })

/** Sound where the pairs say so, in seconds. */
const sound = (seconds: number, ...loud: ReadonlyArray<readonly [number, number]>): Int16Array => {
  const samples = new Int16Array(Math.round(seconds * 16_000))
  for (const [from, to] of loud) samples.fill(4000, Math.round(from * 16_000), Math.round(to * 16_000))
  return samples
}

const ask = (file: string, language = "en") =>
  Effect.flatMap(Recognition, ({ recognise }) => recognise({ file, language, keyterms: [] }))

/** Asks and lets virtual time pass. */
const askInTime = (file: string) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(ask(file))
    for (let i = 0; i < 20; i++) yield* TestClock.adjust(10_000)
    return yield* Fiber.join(fiber)
  })

const scripted = (options: Parameters<typeof makeScriptedTranscriber>[0]) => {
  const transcriber = makeScriptedTranscriber({ finalMs: 0, ...options })
  return {
    transcriber,
    layer: Recognition.layer().pipe(Layer.provide([scriptedSpeech({ transcriber }), fakeUploadedAudio(300)]))
  }
}

const gone = new SpeechError({ reason: "Unavailable", provider: "scripted", message: "gone" })

describe("Recognition", () => {
  it.effect("joins the utterances and puts their words on the time of the recording", () => {
    const { layer, transcriber } = scripted({ utterances: ["good morning", "how are you"] })
    return Effect.gen(function* () {
      const file = yield* fileOf(sound(10, [2, 3], [6, 7.5]))
      const { durationMs, language, text, words } = yield* askInTime(file)
      expect(text).toBe("good morning how are you")
      expect(durationMs).toBe(10_000)
      expect(language).toBeUndefined()
      expect(words.map((word) => word.text)).toEqual(["good", "morning", "how", "are", "you"])
      expect(words[0]?.startMs).toBeGreaterThan(1700)
      expect(words[1]?.endMs).toBeLessThan(3400)
      expect(words[2]?.startMs).toBeGreaterThan(5700)
      expect(words[4]?.endMs).toBeLessThan(7900)
      expect(transcriber.opened).toHaveLength(1)
      expect(transcriber.running()).toBe(0)
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("needs no recogniser for silence", () => {
    const { layer, transcriber } = scripted({ utterances: ["never"] })
    return Effect.gen(function* () {
      expect(yield* askInTime(yield* fileOf(sound(3)))).toMatchObject({ text: "", words: [], durationMs: 3000 })
      expect(transcriber.opened).toHaveLength(0)
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("asks again, once, on a new stream when one dies", () => {
    const { layer, transcriber } = scripted({
      utterances: [{ text: "lost", fail: { afterMs: 100, error: gone } }, "found", "and more"]
    })
    return Effect.gen(function* () {
      const { text } = yield* askInTime(yield* fileOf(sound(10, [2, 3], [6, 7])))
      expect(text).toBe("found and more")
      expect(transcriber.opened).toHaveLength(2)
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect.each([
    { name: "that die", fail: { afterMs: 1, error: gone }, reason: "Unavailable" },
    { name: "that never answer", finalMs: Infinity, reason: "Timeout" }
  ])("gives up after two streams $name", ({ fail, finalMs, reason }) => {
    const utterance = { text: "x", ...(fail && { fail }), ...(finalMs !== undefined && { finalMs }) }
    const { layer, transcriber } = scripted({ utterances: [utterance, utterance, "third"] })
    return Effect.gen(function* () {
      const error = yield* Effect.flip(askInTime(yield* fileOf(sound(4, [1, 2]))))
      expect(error.reason).toBe(reason)
      expect(transcriber.opened).toHaveLength(2)
      expect(transcriber.running()).toBe(0)
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("tells voice by loudness where voice activity is not there", () => {
    const transcriber = makeScriptedTranscriber({ utterances: ["hello", "there"], finalMs: 0 })
    const voiceActivity = { provider: "none", open: () => Effect.fail(gone) }
    const layer = Recognition.layer().pipe(
      Layer.provide([scriptedSpeech({ transcriber, voiceActivity }), fakeUploadedAudio()])
    )
    return Effect.gen(function* () {
      expect(yield* askInTime(yield* fileOf(sound(8, [2, 3], [5, 6])))).toMatchObject({ text: "hello there" })
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("refuses what is too short", () =>
    Effect.gen(function* () {
      expect((yield* Effect.flip(ask(yield* fileOf(sound(0.079))))).reason).toBe("TooShort")
      expect((yield* ask(yield* fileOf(sound(0.08)))).durationMs).toBe(80)
    }).pipe(Effect.scoped, Effect.provide(scripted({ utterances: [] }).layer))
  )

  it.effect("lets two work and eight wait, and refuses the next", () => {
    const { layer, transcriber } = scripted({ utterances: Array.from({ length: 20 }, () => "yes"), finalMs: 1000 })
    return Effect.gen(function* () {
      const file = yield* fileOf(sound(2, [0.5, 1.5]))
      const fibers = yield* Effect.forEach(Array.from({ length: 10 }), () => Effect.forkChild(ask(file)))
      for (let i = 0; i < 100 && transcriber.running() < 2; i++) yield* TestClock.adjust(1)
      expect(transcriber.running()).toBe(2)
      expect((yield* Effect.flip(ask(file))).reason).toBe("Overloaded")
      yield* Fiber.interrupt(fibers[0]!)
      const late = yield* Effect.forkChild(ask(file))
      for (let i = 0; i < 30; i++) yield* TestClock.adjust(1000)
      expect((yield* Fiber.join(late)).text).toBe("yes")
      for (const fiber of fibers.slice(1)) expect((yield* Fiber.join(fiber)).text).toBe("yes")
      expect(transcriber.running()).toBe(0)
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.live.skipIf(findPocketSphinx() === undefined)(
    "hears what the embedded voice says, pauses and all",
    () =>
      Effect.gen(function* () {
        const samples = withSilence(
          [speakToWav("The meeting starts at nine."), speakToWav("Please bring the green book with you.")],
          1500
        )
        const { durationMs, text, words } = yield* ask(yield* fileOf(samples))
        const heard = text.toLowerCase()
        const expected = "the meeting starts at nine please bring the green book with you".split(" ")
        expect(expected.filter((word) => heard.includes(word)).length).toBeGreaterThanOrEqual(9)
        expect(durationMs).toBeCloseTo(samples.length / 16)
        const gaps = words.map((word, i) => word.startMs - (words[i - 1]?.endMs ?? 0))
        expect(Math.max(...gaps.slice(1))).toBeGreaterThan(1000)
        expect(words.at(-1)?.endMs).toBeLessThan(durationMs)
      }).pipe(
        Effect.scoped,
        Effect.provide(
          Recognition.layer().pipe(
            Layer.provide([
              Speech.layer({ tts: [], asr: ["pocketsphinx"], pocketSphinx: { poolSize: 1 } }),
              fakeUploadedAudio()
            ])
          )
        )
      ),
    60_000
  )
})
