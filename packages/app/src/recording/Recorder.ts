// Puts a call on record: both sides as files that grow while it runs, and rows that say so. A call never waits for its
// recording and never fails by it; what goes wrong is said by the tracks. The rows are made while the call begins; if
// they cannot be made, nothing is kept.
import type { Leg } from "@parley/engine/leg/Leg"
import { hearingRate } from "@parley/engine/leg/Leg"
import { RecordedLeg } from "@parley/engine/leg/RecordedLeg"
import type { TrackRole } from "@parley/contract/Recording"
import { Blobs } from "@parley/workspace/storage/Blobs"
import { newId } from "@parley/workspace/storage/Id"
import { Recordings, type TrackOutcome } from "@parley/workspace/recordings/Recordings"
import { Clock, Context, Effect, Fiber, FiberSet, Layer, Schedule, type Scope } from "effect"
import type { RecorderRate } from "./RecorderMessage.ts"
import { RecorderThread, type Repaired, type TrackRecorder } from "./RecorderThread.ts"

/** The recording of one call. */
export interface CallRecording {
  /** To be given to the conversation in the place of the leg. */
  readonly leg: Leg
  /** For the end of the call, however it came: nothing more is recorded. The fiber settles the tracks; bounded. */
  readonly finish: Effect.Effect<Fiber.Fiber<void>>
}

/** Recordings of calls. */
export class Recorder extends Context.Service<
  Recorder,
  {
    /** Begins both tracks. Does not fail: a call whose recording cannot begin gets its own leg back. */
    readonly record: (sessionId: string, leg: Leg) => Effect.Effect<CallRecording>
    /** Whether the session's tracks are still being written, or settled, here. */
    readonly isRecording: (sessionId: string) => boolean
    /** Makes a file whole that its writer left. Undefined when that cannot be told now. */
    readonly repair: (path: string) => Effect.Effect<Repaired | undefined>
  }
>()("@parley/app/Recorder") {
  static readonly layerWith = (program?: URL): Layer.Layer<Recorder, never, Blobs | Recordings> =>
    Layer.effect(
      Recorder,
      Effect.suspend(() => make(program))
    )
  static readonly layer = Recorder.layerWith()
}

/** When the service stops, recordings get this long to be settled; the others are found again. */
const drainMs = 3_000
/** Longest wait for the thread to write what is left of a track, or to repair one. */
const writeMs = 10_000
const rowRetry = { schedule: Schedule.exponential("200 millis"), times: 6 }

const make = Effect.fnUntraced(function* (
  program: URL | undefined
): Effect.fn.Return<Recorder["Service"], never, Blobs | Recordings | Scope.Scope> {
  const blobs = yield* Blobs
  const recordings = yield* Recordings
  const thread = yield* Effect.acquireRelease(
    Effect.sync(() => new RecorderThread(program)),
    (started) => Effect.promise(() => started.stop())
  )
  const tasks = yield* FiberSet.make<boolean | void>()
  yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(tasks), drainMs))
  const active = new Set<string>()

  const repair = (path: string) =>
    Effect.promise(() => thread.repair(path)).pipe(
      Effect.timeoutOrElse({ duration: writeMs, orElse: () => Effect.succeed(undefined) })
    )

  const run = yield* FiberSet.runtime(tasks)<never>()

  /** The file is open at once; whether there is a row for it is known later. */
  const track = (sessionId: string, role: TrackRole, rate: number, startedAtMs: number) => {
    const blob = blobs.fresh("recordings")
    const row = { id: newId("track"), role, blob }
    const begun = run(
      recordings.begin(sessionId, [row], startedAtMs).pipe(
        Effect.sandbox,
        Effect.retry(rowRetry),
        Effect.catch(() => Effect.as(Effect.logError("A recording could not be stored"), false))
      )
    )
    return { row, begun, recorder: thread.open(blobs.path(blob), rateOf(rate)) }
  }

  const record = Effect.fnUntraced(function* (sessionId: string, leg: Leg) {
    const startedAtMs = yield* Clock.currentTimeMillis
    active.add(sessionId)
    const user = track(sessionId, "user", hearingRate, startedAtMs)
    const agent = track(sessionId, "agent", leg.playRate, startedAtMs)
    const tracks = [user, agent]
    const recorded = new RecordedLeg(leg, {
      user: user.recorder,
      agent: agent.recorder,
      human: () => {
        const human = track(sessionId, "human", leg.playRate, startedAtMs)
        tracks.push(human)
        return human.recorder
      },
      nowMs: () => performance.now()
    })
    const settle = Effect.fnUntraced(function* ({ begun, recorder, row }: (typeof tracks)[number]) {
      const outcome = yield* outcomeOf(recorder, repair(blobs.path(row.blob)))
      if (!(yield* Fiber.join(begun))) yield* blobs.remove([row.blob])
      else if (outcome !== undefined) yield* recordings.settle(row.id, outcome)
    })
    return {
      leg: recorded,
      finish: Effect.suspend(() => {
        recorded.finish()
        return Effect.forEach(tracks, settle, { concurrency: "unbounded", discard: true }).pipe(
          // What could not be settled is found again, like after a crash.
          Effect.catchCause(() => Effect.logWarning("A recording could not be settled and will be found again")),
          Effect.ensuring(Effect.sync(() => active.delete(sessionId))),
          (task) => FiberSet.run(tasks, task)
        )
      })
    }
  })

  return {
    repair,
    isRecording: (sessionId) => active.has(sessionId),
    record: (sessionId, leg) =>
      record(sessionId, leg).pipe(
        Effect.catchCause((cause) =>
          Effect.as(Effect.logError("A recording could not begin", cause), {
            leg,
            finish: Effect.forkDetach(Effect.void)
          })
        ),
        Effect.withSpan("Recorder.record")
      )
  }
})

/** How a track ended; undefined when the disk does not even tell what it has. */
const outcomeOf = Effect.fnUntraced(function* (
  recorder: TrackRecorder,
  repair: Effect.Effect<Repaired | undefined>
): Effect.fn.Return<TrackOutcome | undefined> {
  const end = yield* Effect.promise(() => recorder.finish()).pipe(
    Effect.timeoutOrElse({
      duration: writeMs,
      orElse: () => Effect.succeed({ errorCode: "recorder_overloaded" as const })
    })
  )
  if ("durationMs" in end) return { durationMs: end.durationMs, errorCode: null }
  yield* Effect.logWarning(`A recording failed: ${end.errorCode}`)
  const repaired = yield* repair
  return repaired && { durationMs: repaired.durationMs, errorCode: end.errorCode }
})

const rateOf = (rate: number): RecorderRate => {
  if (rate === 8000 || rate === 16_000 || rate === 24_000 || rate === 48_000) return rate
  throw new RangeError(`no recording at ${rate} Hz`)
}
