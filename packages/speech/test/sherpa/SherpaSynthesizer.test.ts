// Toy voices, made here, spoken by the genuine runtime in its own process.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Result, Stream } from "effect"
import { afterAll } from "vitest"
import { readSynthesisModel } from "../../src/sherpa/SynthesisModel.ts"
import { runtimeMissing } from "../../src/sherpa/sherpaRuntime.ts"
import { makeSherpaSynthesizer } from "../../src/sherpa/SherpaSynthesizer.ts"
import type { SherpaOptions } from "../../src/sherpa/sherpaProcess.ts"
import { collect, phrase, synthesizerCases } from "../cases/synthesizerCases.ts"
import { until } from "../cases/transcriberCases.ts"
import { vits } from "../../src/testing/toyModels.ts"

const root = mkdtempSync(join(tmpdir(), "sherpa-voices-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const model = Result.getOrThrow(readSynthesisModel(vits(root)))
const misbehaving = new URL("./misbehavingEngine.ts", import.meta.url)
const make = (options: SherpaOptions = {}) => makeSherpaSynthesizer(model, { threads: 1, ...options })

const here = describe.skipIf(runtimeMissing() !== undefined)
here("with the runtime", () => synthesizerCases("sherpa", make()))

const peakOf = (audio: ReadonlyArray<{ readonly samples: Int16Array }>): number =>
  audio.reduce((peak, { samples }) => samples.reduce((most, sample) => Math.max(most, sample), peak), 0)

here("SherpaSynthesizer", () => {
  it.live("speaks with the voice that was asked for, the same each time, with estimated word times", () =>
    Effect.gen(function* () {
      const synthesizer = yield* make()
      expect(synthesizer.voices.map((voice) => voice.id)).toEqual(["sherpa:0", "sherpa:1"])
      const loud = yield* collect(synthesizer.synthesize(phrase))
      const again = yield* collect(synthesizer.synthesize({ ...phrase, voice: "sherpa:0" }))
      const soft = yield* collect(synthesizer.synthesize({ ...phrase, voice: "sherpa:1" }))
      expect(again.audio).toEqual(loud.audio)
      expect(peakOf(soft.audio) / peakOf(loud.audio)).toBeCloseTo(0.5, 2)
      expect(loud.words).toHaveLength(8)
      expect(loud.words.every((word) => !word.exact)).toBe(true)
      expect(loud.words.at(-1)?.endMs).toBeCloseTo(loud.ms, 0)
      const untimed = yield* collect(synthesizer.synthesize({ ...phrase, words: false }))
      expect(untimed.chunks.every((chunk) => chunk._tag === "Audio")).toBe(true)
    })
  )

  it.live("says that text without a word it knows gave no sound", () =>
    Effect.gen(function* () {
      const synthesizer = yield* make()
      const error = yield* Effect.flip(collect(synthesizer.synthesize({ ...phrase, text: "zzzz" })))
      expect(error).toMatchObject({ reason: "InvalidOutput", provider: "sherpa" })
      expect((yield* collect(synthesizer.synthesize(phrase))).ms).toBeGreaterThan(500)
    })
  )

  it.live("refuses what is beyond its line, and serves again", () =>
    Effect.gen(function* () {
      const synthesizer = yield* makeSherpaSynthesizer(model, { file: misbehaving, mostWaiting: 2, answerMs: 60_000 })
      const slow = { ...phrase, text: "hangs" }
      const fibers = yield* Effect.forEach([1, 2, 3], () =>
        Effect.tap(Effect.forkChild(Stream.runDrain(synthesizer.synthesize(slow))), () => Effect.sleep(50))
      )
      const error = yield* Effect.flip(collect(synthesizer.synthesize(slow)))
      expect(error.reason).toBe("Overloaded")
      // The two that waited have left the line.
      yield* Effect.forEach(fibers.slice(1), (fiber) => Fiber.interrupt(fiber))
      const waiting = yield* Effect.forkChild(Effect.flip(collect(synthesizer.synthesize(slow))))
      yield* Effect.sleep(50)
      yield* Fiber.interrupt(waiting)
    })
  )

  it.live("kills an engine that does not answer, and serves with the next one", () =>
    Effect.gen(function* () {
      const synthesizer = yield* makeSherpaSynthesizer(model, { file: misbehaving, answerMs: 3000 })
      expect((yield* collect(synthesizer.synthesize(phrase))).ms).toBeGreaterThan(0)
      const error = yield* Effect.flip(collect(synthesizer.synthesize({ ...phrase, text: "hangs" })))
      expect(error.reason).toBe("Timeout")
      expect((yield* collect(synthesizer.synthesize(phrase))).ms).toBeGreaterThan(0)
    })
  )

  it.live("fails the phrase whose engine is killed under it, starts another and speaks the next", () =>
    Effect.gen(function* () {
      const synthesizer = yield* makeSherpaSynthesizer(model, { file: misbehaving })
      const pids: Array<number> = []
      for (let round = 0; round < 2; round++) {
        const spoken = synthesizer.synthesize({ ...phrase, text: "pid then hangs" }).pipe(
          Stream.tap((chunk) =>
            Effect.sync(() => {
              if (chunk._tag !== "Audio") return
              const pid = (chunk.samples[0] ?? 0) * 10_000 + (chunk.samples[1] ?? 0)
              pids.push(pid)
              process.kill(pid, "SIGKILL")
            })
          )
        )
        const error = yield* Effect.flip(Stream.runDrain(spoken))
        expect(error).toMatchObject({ reason: "Unavailable", provider: "sherpa" })
        expect((yield* collect(synthesizer.synthesize(phrase))).ms).toBeGreaterThan(0)
      }
      expect(new Set(pids).size).toBe(2)
      expect(synthesizer.fault()).toBeUndefined()
    })
  )

  it.live("tells why it cannot start, fails at once and lives", () =>
    Effect.gen(function* () {
      const broken = { ...model, config: { vits: { model: "/nonexistent", tokens: "", dataDir: "", lexicon: "" } } }
      const synthesizer = yield* makeSherpaSynthesizer(broken)
      expect(yield* Effect.flip(collect(synthesizer.synthesize(phrase)))).toMatchObject({ reason: "Unavailable" })
      yield* until(() => synthesizer.fault() !== undefined)
      expect(synthesizer.fault()).toContain("loaded the model")
    })
  )
})
