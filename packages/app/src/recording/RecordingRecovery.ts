// What must happen to recordings though nobody asks: those a dead process left are made whole and settled, those past
// their days removed. Runs once before the layer is ready, after sessions were settled, then for ever. Only whoever has
// the file settles it; one that nobody has for a day is lost.
import type { Blobs } from "@parley/workspace/storage/Blobs"
import { Recordings } from "@parley/workspace/recordings/Recordings"
import { type Duration, Effect, Layer, Schedule } from "effect"
import { AppSettings } from "../AppSettings.ts"
import type { Recorder } from "./Recorder.ts"
import { settleLeft } from "./settleLeft.ts"

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

const forever = (task: Effect.Effect<void>, every: Duration.Input, first: Duration.Input = every) =>
  task.pipe(
    Effect.catchCause(() => Effect.logWarning("Recordings could not be looked after and will be tried again")),
    Effect.repeat(Schedule.spaced(every)),
    Effect.delay(first),
    Effect.forkScoped
  )
