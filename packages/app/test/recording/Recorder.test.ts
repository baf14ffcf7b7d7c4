import { assert, describe, it } from "@effect/vitest"
import type { Leg, LegListener } from "@parley/engine/leg/Leg"
import { Blobs } from "@parley/workspace/storage/Blobs"
import { Recordings, type TrackOutcome } from "@parley/workspace/recordings/Recordings"
import { DataFolder } from "@parley/workspace/storage/Database"
import { Effect, Fiber, Layer } from "effect"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Recorder } from "../../src/recording/Recorder.ts"

interface Told {
  readonly begun: Array<string>
  readonly settled: Array<TrackOutcome>
}

const never = Effect.die(new Error("not asked for"))

/** A recorder on a folder of its own, over rows that are only told; `begin` says whether they can be made. */
const withRecorder = <A, E>(
  options: { readonly begin: Effect.Effect<boolean>; readonly program?: string },
  use: (told: Told, files: () => ReadonlyArray<string>) => Effect.Effect<A, E, Recorder>
) =>
  Effect.gen(function* () {
    const path = mkdtempSync(join(tmpdir(), "parley-recorder-"))
    yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(path, { recursive: true, force: true })))
    const told: Told = { begun: [], settled: [] }
    const rows = Layer.succeed(Recordings, {
      alone: true,
      begin: (_session, tracks) => {
        told.begun.push(...tracks.map(({ role }) => role))
        return options.begin
      },
      settle: (_track, outcome) => Effect.sync(() => void told.settled.push(outcome)),
      ofSession: () => never,
      sound: () => never,
      unfinished: never,
      expire: () => never
    })
    const program = options.program === undefined ? undefined : new URL(options.program, import.meta.url)
    const blobs = Blobs.layer.pipe(Layer.provide(Layer.succeed(DataFolder, { path })))
    const files = () => readdirSync(join(path, "blobs", "recordings"))
    return yield* use(told, files).pipe(
      Effect.provide(Recorder.layerWith(program).pipe(Layer.provide(Layer.mergeAll(blobs, rows))))
    )
  }).pipe(Effect.scoped)

const call = () => {
  const active: { listener?: LegListener; closed: boolean } = { closed: false }
  const leg: Leg = {
    playRate: 24_000,
    attach: (listener) => void (active.listener = listener),
    play: () => undefined,
    tell: () => undefined,
    close: () => void (active.closed = true)
  }
  return { leg, active }
}

/** Half a second of both sides, in real time. */
const talk = (leg: Leg, active: { readonly listener?: LegListener }) =>
  Effect.promise(async () => {
    leg.attach({
      onFrame: () => undefined,
      onEvent: () => undefined,
      onDigit: () => undefined,
      onClosed: () => undefined
    })
    for (let i = 0; i < 25; i++) {
      active.listener?.onFrame(new Int16Array(320).fill(1_000))
      leg.play(new Int16Array(480).fill(1_000))
      await new Promise((tick) => setTimeout(tick, 20))
    }
  })

describe("Recorder", () => {
  it.live("settles both tracks with the length of the call", () =>
    withRecorder({ begin: Effect.succeed(true) }, (told, files) =>
      Effect.gen(function* () {
        const recorder = yield* Recorder
        const { active, leg } = call()
        const began = performance.now()
        const recording = yield* recorder.record("session_1", leg)
        assert.isTrue(recorder.isRecording("session_1"))
        yield* talk(recording.leg, active)
        recording.leg.close("user_hangup")
        const lasted = performance.now() - began
        assert.isTrue(active.closed)
        yield* Fiber.join(yield* recording.finish)
        assert.isFalse(recorder.isRecording("session_1"))
        assert.deepStrictEqual(told.begun, ["user", "agent"])
        assert.lengthOf(told.settled, 2)
        for (const { durationMs, errorCode } of told.settled) {
          assert.isNull(errorCode)
          // All that was said, and not more time than went by.
          assert.isAtLeast(durationMs, 440)
          assert.isAtMost(durationMs, lasted + 40)
        }
        assert.lengthOf(files(), 2)
      })
    )
  )

  it.live("keeps nothing when the session is not to be recorded", () =>
    withRecorder({ begin: Effect.succeed(false) }, (told, files) =>
      Effect.gen(function* () {
        const { active, leg } = call()
        const recording = yield* (yield* Recorder).record("session_1", leg)
        yield* talk(recording.leg, active)
        yield* Fiber.join(yield* recording.finish)
        assert.deepStrictEqual(told.settled, [])
        assert.deepStrictEqual(files(), [])
      })
    )
  )

  it.live("says what was kept when its thread dies, and leaves the call alone", () =>
    withRecorder({ begin: Effect.succeed(true), program: "./dyingThread.ts" }, (told) =>
      Effect.gen(function* () {
        const { active, leg } = call()
        const recording = yield* (yield* Recorder).record("session_1", leg)
        yield* talk(recording.leg, active)
        yield* talk(recording.leg, active)
        assert.isFalse(active.closed)
        yield* Fiber.join(yield* recording.finish)
        const lost = { durationMs: 700, errorCode: "recorder_lost" as const }
        assert.deepStrictEqual(told.settled, [lost, lost])
      })
    )
  )
})
