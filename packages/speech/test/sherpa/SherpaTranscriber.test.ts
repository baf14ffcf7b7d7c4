// Text played as tones, heard by the genuine runtime through toy models: whole utterances, and while they are said.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Result, Scope } from "effect"
import { afterAll } from "vitest"
import { readRecognitionModel } from "../../src/sherpa/RecognitionModel.ts"
import { runtimeMissing } from "../../src/sherpa/sherpaRuntime.ts"
import { makeSherpaTranscriber } from "../../src/sherpa/SherpaTranscriber.ts"
import type { SherpaRecognitionOptions } from "../../src/sherpa/SherpaTranscriber.ts"
import { finals, transcriptLog, pushAll, transcriberCases, until } from "../cases/transcriberCases.ts"
import { letterMs, offlineCtc, play, streamingCtc } from "../../src/testing/toyModels.ts"

const root = mkdtempSync(join(tmpdir(), "sherpa-ears-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const models = {
  offline: Result.getOrThrow(readRecognitionModel(offlineCtc(root))),
  streaming: Result.getOrThrow(readRecognitionModel(streamingCtc(root)))
}
const misbehaving = new URL("./misbehavingRecogniser.ts", import.meta.url)
const make = (kind: keyof typeof models, options: SherpaRecognitionOptions = {}) =>
  makeSherpaTranscriber(models[kind], { threads: 1, ...options })

const here = describe.skipIf(runtimeMissing() !== undefined)

here.each(["offline", "streaming"] as const)("%s", (kind) => {
  transcriberCases(`sherpa, ${kind}`, make(kind), [
    { samples: play("good morning"), expected: "good morning" },
    { samples: play("see you later"), expected: "see you later" }
  ])

  it.live("hears exactly what was played, each word where it was", () =>
    Effect.gen(function* () {
      const transcriber = yield* make(kind)
      expect(transcriber).toMatchObject({ provider: "sherpa", streaming: kind === "streaming" })
      const { events, options } = transcriptLog()
      const stream = yield* transcriber.open(options)
      for (const text of ["hello big world", "jump quickly"]) {
        events.length = 0
        pushAll(stream, play(text))
        if (kind === "streaming") yield* until(() => (events.at(-1)?.text.length ?? 0) > text.length - 3)
        stream.commit()
        yield* until(() => finals(events).length === 1)
        const [final] = finals(events)
        expect(final?.text).toBe(text)
        let at = 0
        for (const [i, word] of text.split(" ").entries()) {
          expect(final?.words[i]?.text).toBe(word)
          expect(Math.abs((final?.words[i]?.startMs ?? -1) - at * letterMs)).toBeLessThan(80)
          at += word.length + 1
        }
        const partials = events.filter((event) => event._tag === "Partial").map((event) => event.text)
        if (kind === "offline") expect(partials).toEqual([])
        else {
          expect(partials.length).toBeGreaterThan(3)
          expect(partials.every((partial) => text.startsWith(partial))).toBe(true)
        }
      }
    })
  )

  it.live("hears several callers at once", () =>
    Effect.gen(function* () {
      const transcriber = yield* make(kind)
      const texts = ["one red fox", "two old dogs", "three cats"]
      const callers = texts.map((text) => ({ text, ...transcriptLog() }))
      const streams = yield* Effect.forEach(callers, ({ options }) => transcriber.open(options))
      for (const [i, stream] of streams.entries()) pushAll(stream, play(texts[i] ?? ""))
      for (const stream of streams) stream.commit()
      yield* until(() => callers.every(({ events }) => finals(events).length === 1))
      expect(callers.map(({ events }) => finals(events)[0]?.text)).toEqual(texts)
    })
  )

  it.live("refuses streams when its model cannot be loaded", () =>
    Effect.gen(function* () {
      const config = { [models[kind].kind]: { model: "/nonexistent" }, tokens: "/nonexistent" }
      const transcriber = yield* makeSherpaTranscriber({ ...models[kind], config })
      yield* until(() => transcriber.fault() !== undefined)
      expect(yield* Effect.flip(transcriber.open(transcriptLog().options))).toMatchObject({ reason: "Unavailable" })
    })
  )
})

here("SherpaTranscriber", () => {
  it.live("refuses callers beyond its bound and takes the next when one leaves", () =>
    Effect.gen(function* () {
      const transcriber = yield* make("streaming", { mostStreams: 1 })
      const first = yield* Scope.make()
      yield* Scope.provide(transcriber.open(transcriptLog().options), first)
      expect(yield* Effect.flip(transcriber.open(transcriptLog().options))).toMatchObject({ reason: "Overloaded" })
      yield* Scope.close(first, Exit.void)
      yield* transcriber.open(transcriptLog().options)
    })
  )

  it.live("tells each caller once that the process died, and hears the next caller with another", () =>
    Effect.gen(function* () {
      const transcriber = yield* make("streaming", { file: misbehaving })
      const callers = [transcriptLog(), transcriptLog()]
      const streams = yield* Effect.forEach(callers, ({ options }) => transcriber.open(options))
      streams[0]?.commit()
      yield* until(() => finals(callers[0]?.events ?? []).length === 1)
      process.kill(Number(finals(callers[0]?.events ?? [])[0]?.text), "SIGKILL")
      yield* until(() => callers.every(({ failures }) => failures.length > 0))
      for (const stream of streams) {
        stream.push(new Int16Array(1600))
        stream.commit()
      }
      const { events, options } = transcriptLog()
      const next = yield* transcriber.open(options)
      next.commit()
      yield* until(() => finals(events).length === 1)
      for (const { failures } of callers)
        expect(failures).toMatchObject([{ reason: "Unavailable", provider: "sherpa" }])
    })
  )

  it.live("gives a commit a bound, and the next caller another process", () =>
    Effect.gen(function* () {
      const transcriber = yield* make("streaming", { file: misbehaving, finalMs: 200 })
      const { events, failures, options } = transcriptLog()
      const stream = yield* transcriber.open(options)
      stream.push(new Int16Array(1600))
      stream.commit()
      stream.commit()
      yield* until(() => failures.length > 0)
      yield* Effect.sleep(50)
      expect(failures).toMatchObject([{ reason: "Timeout" }])
      expect(events).toEqual([])
    })
  )
})
