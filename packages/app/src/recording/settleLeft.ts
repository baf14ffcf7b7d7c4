// Recordings that nobody writes any more are made whole and settled. Only whoever has the file settles it; one that
// nobody has for a day is lost.
import { Recordings } from "@parley/workspace/recordings/Recordings"
import { Blobs } from "@parley/workspace/storage/Blobs"
import { Clock, Effect } from "effect"
import { Recorder } from "./Recorder.ts"

const lostAfterMs = 24 * 60 * 60 * 1000

/** One look over all unfinished tracks; safe to run again, here and in other processes. */
export const settleLeft = Effect.gen(function* () {
  const blobs = yield* Blobs
  const recorder = yield* Recorder
  const recordings = yield* Recordings
  return Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    for (const track of yield* recordings.unfinished) {
      if (recorder.isRecording(track.session_id)) continue
      const repaired = yield* recorder.repair(blobs.path(track.blob))
      if (repaired === undefined) continue
      const isLost = recordings.alone || nowMs - track.session_ended_at.getTime() > lostAfterMs
      if (!repaired.found && !isLost) continue
      yield* recordings.settle(track.id, { durationMs: repaired.durationMs, errorCode: null })
    }
  })
})
