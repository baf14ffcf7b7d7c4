// What is known of recorded calls: the tracks of a session, and the blobs with their sound. A track is active until the
// recorder settles it, once; one whose recorder is gone is settled by whoever finds its blob.
import { type NotFound, notFound } from "@parley/contract/Errors"
import type { RecordingErrorCode, TrackRole, TrackStatus } from "@parley/contract/Recording"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Blobs } from "../storage/Blobs.ts"
import { Database } from "../storage/Database.ts"

export interface NewTrack {
  readonly id: string
  readonly role: TrackRole
  readonly blob: string
}

export interface TrackRow extends NewTrack {
  readonly session_id: string
  readonly status: TrackStatus
  readonly started_at: Date
  readonly ended_at: Date | null
  readonly duration_ms: number | null
  readonly error_code: RecordingErrorCode | null
}

/** `durationMs` of a failed track: what was kept of it, 0 for nothing. */
export interface TrackOutcome {
  readonly durationMs: number
  readonly errorCode: RecordingErrorCode | null
}

const removedAtOnce = 500

export class Recordings extends Context.Service<
  Recordings,
  {
    /** The call's tracks, active from this moment. False when this session is not to be recorded. */
    readonly begin: (sessionId: string, tracks: ReadonlyArray<NewTrack>, startedAtMs: number) => Effect.Effect<boolean>
    /** Once; a track without sound loses its blob. */
    readonly settle: (trackId: string, outcome: TrackOutcome) => Effect.Effect<void>
    /** All tracks; never empty. The same failure for a session that is foreign, unknown or was never recorded. */
    readonly ofSession: (workspace: string, sessionId: string) => Effect.Effect<ReadonlyArray<TrackRow>, NotFound>
    /** Path of a track's sound. */
    readonly sound: (trackId: string) => Effect.Effect<string, NotFound>
    /** Active tracks of sessions that have ended. */
    readonly unfinished: Effect.Effect<ReadonlyArray<TrackRow & { readonly session_ended_at: Date }>>
    /** Removes what ended more than `days` ago, blobs first. Returns how many tracks. */
    readonly expire: (days: number) => Effect.Effect<number>
    /** Whether nobody else uses this database, so that a blob that is not here is nowhere. */
    readonly alone: boolean
  }
>()("@parley/workspace/Recordings") {
  static readonly layer: Layer.Layer<Recordings, never, Blobs | Database | SqlClient.SqlClient> = Layer.effect(
    Recordings,
    Effect.gen(function* () {
      const { alone } = yield* Database
      const sql = yield* SqlClient.SqlClient
      const blobs = yield* Blobs
      if (alone) {
        const known = yield* sql<{ blob: string }>`SELECT blob FROM recording_tracks`.pipe(Effect.orDie)
        yield* blobs.sweep("recordings", new Set(known.map(({ blob }) => blob)))
      }

      return {
        alone,

        begin: Effect.fn("Recordings.begin")(function* (sessionId, tracks, startedAtMs) {
          const rows = yield* sql`INSERT INTO recording_tracks (id, session_id, role, blob, started_at)
            SELECT t->>'id', s.id, t->>'role', t->>'blob', ${new Date(startedAtMs).toISOString()}::timestamptz
            FROM sessions s, jsonb_array_elements(${JSON.stringify(tracks)}::jsonb) AS t
            WHERE s.id = ${sessionId} AND NOT s.preview AND (s.request->>'recordAudio')::boolean RETURNING id`
          return rows.length > 0
        }, Effect.orDie),

        settle: Effect.fn("Recordings.settle")(function* (trackId, { durationMs, errorCode }) {
          const code = errorCode ?? (durationMs > 0 ? null : "no_sound")
          const rows = yield* sql<{ blob: string }>`UPDATE recording_tracks SET
              status = ${code === null ? "complete" : "failed"}, error_code = ${code}, duration_ms = ${durationMs},
              ended_at = started_at + make_interval(secs => ${durationMs}::float8 / 1000)
            WHERE id = ${trackId} AND status = 'active' RETURNING blob`
          if (durationMs === 0) yield* blobs.remove(rows.map(({ blob }) => blob))
        }, Effect.orDie),

        ofSession: Effect.fn("Recordings.ofSession")(function* (workspace, sessionId) {
          const rows = yield* sql<TrackRow>`SELECT t.* FROM recording_tracks t JOIN sessions s ON s.id = t.session_id
            WHERE s.id = ${sessionId} AND s.workspace_id = ${workspace} AND NOT s.preview ORDER BY t.role`.pipe(
            Effect.orDie
          )
          return rows.length === 0 ? yield* notFound("Recording") : rows
        }),

        sound: Effect.fn("Recordings.sound")(function* (trackId) {
          const rows = yield* sql<{ blob: string }>`SELECT blob FROM recording_tracks
            WHERE id = ${trackId} AND status IN ('complete', 'failed') AND duration_ms > 0`.pipe(Effect.orDie)
          return rows[0] === undefined ? yield* notFound("Recording") : blobs.path(rows[0].blob)
        }),

        unfinished: sql<TrackRow & { readonly session_ended_at: Date }>`SELECT t.*, s.ended_at AS session_ended_at
          FROM recording_tracks t JOIN sessions s ON s.id = t.session_id
          WHERE t.status = 'active' AND s.status IN ('completed', 'failed')`.pipe(Effect.orDie),

        expire: Effect.fn("Recordings.expire")(function* (days) {
          for (let removed = 0; ;) {
            const rows = yield* sql<{ id: string; blob: string }>`SELECT id, blob FROM recording_tracks
              WHERE ended_at < now() - make_interval(days => ${days}) LIMIT ${removedAtOnce}`
            yield* blobs.remove(rows.map(({ blob }) => blob))
            const ids = JSON.stringify(rows.map(({ id }) => id))
            yield* sql`DELETE FROM recording_tracks
              WHERE id IN (SELECT jsonb_array_elements_text(${ids}::jsonb))`
            removed += rows.length
            if (rows.length < removedAtOnce) return removed
          }
        }, Effect.orDie)
      }
    })
  )
}
