// What must happen to recordings though nobody asks: those a dead process left are made whole and settled, those past
// their days removed. Runs once before the layer is ready, after sessions were settled, then for ever. Only whoever has
// the file settles it; one that nobody has for a day is lost.
import { Blobs } from "@parley/workspace/storage/Blobs"
import { Recordings } from "@parley/workspace/recordings/Recordings"
import { Clock, type Duration, Effect, Layer, Schedule } from "effect"
import { AppSettings } from "../AppSettings.ts"
import { Recorder } from "./Recorder.ts"

const lostAfterMs = 24 * 60 * 60 * 1000

export const layer: Layer.Layer<never, never, Blobs | Recorder | Recordings | AppSettings> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { recordingsDays } = yield* AppSettings
    const recordings = yield* Recordings
    const expire = recordingsDays === 0 ? Effect.void : Effect.asVoid(recordings.expire(recordingsDays))
    const settle = yield* settleLeft
    yield* settle
    yield* forever(settle, "5 seconds")
    yield* forever(expire, "10 minutes", "0 seconds")
  })
)

/** Settles what nobody writes any more. */
export const settleLeft = Effect.gen(function* () {
  const blobs = yield* Blobs
  const recorder = yield* Recorder
  const recordings = yield* Recordings
  return Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    for (const track of yield* recordings.unfinished) {
      if (recorder.holds(track.session_id)) continue
      const repaired = yield* recorder.repair(blobs.path(track.blob))
      if (repaired === undefined) continue
      const isLost = recordings.alone || nowMs - track.session_ended_at.getTime() > lostAfterMs
      if (!repaired.found && !isLost) continue
      yield* recordings.settle(track.id, { durationMs: repaired.durationMs, errorCode: null })
    }
  })
})

const forever = (task: Effect.Effect<void>, every: Duration.Input, first: Duration.Input = every) =>
  task.pipe(
    Effect.catchCause(() => Effect.logWarning("Recordings could not be looked after and will be tried again")),
    Effect.repeat(Schedule.spaced(every)),
    Effect.delay(first),
    Effect.forkScoped
  )
