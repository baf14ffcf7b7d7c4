// What is known of recorded calls: the tracks of a session, and the blobs with their sound. A track is active until the
// recorder settles it, once; one whose recorder is gone is settled by whoever finds its blob.
import { type NotFound, notFound } from "@parley/contract/Errors"
import { RecordingErrorCode, TrackRole, TrackStatus } from "@parley/contract/Recording"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Blobs } from "../storage/Blobs.ts"
import { Database } from "../storage/Database.ts"
import { rowsOf } from "../storage/rows.ts"

/** A track that is to be recorded; `blob` is the name of its sound. */
export interface NewTrack {
  readonly id: string
  readonly role: TrackRole
  readonly blob: string
}

const TrackRow = Schema.Struct({
  id: Schema.String,
  role: TrackRole,
  blob: Schema.String,
  session_id: Schema.String,
  status: TrackStatus,
  started_at: Schema.Date,
  ended_at: Schema.NullOr(Schema.Date),
  duration_ms: Schema.NullOr(Schema.Int),
  error_code: Schema.NullOr(RecordingErrorCode)
})
/** A row of `recording_tracks`. */
export type TrackRow = typeof TrackRow.Type

const UnfinishedTrack = Schema.Struct({ ...TrackRow.fields, session_ended_at: Schema.Date })

/** `durationMs` of a failed track: what was kept of it, 0 for nothing. */
export interface TrackOutcome {
  readonly durationMs: number
  readonly errorCode: RecordingErrorCode | null
}

const removedAtOnce = 500

/** Tracks of recorded calls. */
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
    readonly unfinished: Effect.Effect<ReadonlyArray<typeof UnfinishedTrack.Type>>
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
        const known = yield* blobRows(sql`SELECT blob FROM recording_tracks`).pipe(Effect.orDie)
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
          const rows = yield* blobRows(sql`UPDATE recording_tracks SET
              status = ${code === null ? "complete" : "failed"}, error_code = ${code}, duration_ms = ${durationMs},
              ended_at = started_at + make_interval(secs => ${durationMs}::float8 / 1000)
            WHERE id = ${trackId} AND status = 'active' RETURNING blob`)
          if (durationMs === 0) yield* blobs.remove(rows.map(({ blob }) => blob))
        }, Effect.orDie),

        ofSession: Effect.fn("Recordings.ofSession")(function* (workspace, sessionId) {
          const rows = yield* trackRows(sql`SELECT t.* FROM recording_tracks t JOIN sessions s ON s.id = t.session_id
            WHERE s.id = ${sessionId} AND s.workspace_id = ${workspace} AND NOT s.preview ORDER BY t.role`).pipe(
            Effect.orDie
          )
          return rows.length === 0 ? yield* notFound("Recording") : rows
        }),

        sound: Effect.fn("Recordings.sound")(function* (trackId) {
          const rows = yield* blobRows(sql`SELECT blob FROM recording_tracks
            WHERE id = ${trackId} AND status IN ('complete', 'failed') AND duration_ms > 0`).pipe(Effect.orDie)
          return rows[0] === undefined ? yield* notFound("Recording") : blobs.path(rows[0].blob)
        }),

        unfinished: unfinishedRows(sql`SELECT t.*, s.ended_at AS session_ended_at
          FROM recording_tracks t JOIN sessions s ON s.id = t.session_id
          WHERE t.status = 'active' AND s.status IN ('completed', 'failed')`).pipe(Effect.orDie),

        expire: Effect.fn("Recordings.expire")(function* (days) {
          for (let removed = 0; ;) {
            const rows = yield* trackBlobs(sql`SELECT id, blob FROM recording_tracks
              WHERE ended_at < now() - make_interval(days => ${days}) LIMIT ${removedAtOnce}`)
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

const blobRows = rowsOf("recording_tracks", Schema.Struct({ blob: Schema.String }))

const trackBlobs = rowsOf("recording_tracks", Schema.Struct({ id: Schema.String, blob: Schema.String }))

const trackRows = rowsOf("recording_tracks", TrackRow)
const unfinishedRows = rowsOf("recording_tracks", UnfinishedTrack)
