// Erasing what is kept of calls: everything that was said, recorded, concluded, sent and given along. The row of a session
// stays as a stub, for billing and for lists, marked, so that what is told late of an erased call is dropped. Sound goes
// first: whatever fails leaves something that is erased when it is asked for again.
import type { Erased } from "@parley/contract/Erasure"
import { Conflict, type NotFound } from "@parley/contract/Errors"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { SessionInput } from "./sessions/SessionRow.ts"
import { Blobs } from "./storage/Blobs.ts"
import { Database } from "./storage/Database.ts"
import { finder } from "./storage/records.ts"
import { countOf, exists, rowsOf } from "./storage/rows.ts"

/** Whose calls: by the id that was given along, or by the other side's number. */
export type Person = { readonly endUserId: string } | { readonly callerNumber: string }

/** Erases calls that are over. All fail with Conflict, and erase nothing, while one of them is live. */
export class Erasure extends Context.Service<
  Erasure,
  {
    readonly session: (workspace: string, id: string) => Effect.Effect<Erased, NotFound | Conflict>
    readonly person: (workspace: string, person: Person) => Effect.Effect<Erased, Conflict>
  }
>()("@parley/workspace/Erasure") {
  static readonly layer: Layer.Layer<Erasure, never, Blobs | Database | SqlClient.SqlClient> = Layer.effect(
    Erasure,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      const blobs = yield* Blobs
      const find = finder(sql, { table: "sessions", noun: "Session", columns: sql`t.id, t.status`, read: foundRows })

      const erase = Effect.fnUntraced(function* (found: ReadonlyArray<typeof FoundRow.Type>) {
        if (found.some(({ status }) => status === "pending" || status === "active")) return yield* live
        let erased = nothing
        for (let at = 0; at < found.length; at += sessionsAtOnce) {
          const some = found.slice(at, at + sessionsAtOnce).map(({ id }) => id)
          erased = sum(erased, yield* eraseSome(sql, blobs, some))
        }
        return erased
      })

      return {
        session: Effect.fn("Erasure.session")(function* (workspace, id) {
          return yield* erase([yield* find(workspace, id)])
        }),
        person: Effect.fn("Erasure.person")(function* (workspace, person) {
          const theirs =
            "endUserId" in person
              ? sql`end_user_id = ${person.endUserId} AND end_user_id <> ''`
              : sql`caller_number = ${person.callerNumber} AND caller_number <> ''`
          const found = foundRows(sql`SELECT id, status FROM sessions
            WHERE workspace_id = ${workspace} AND ${theirs} ORDER BY seq`)
          return yield* erase(yield* Effect.orDie(found))
        })
      }
    })
  )
}

const sessionsAtOnce = 100
/** A recorder that still writes the end of a call is waited for. */
const recorderTries = 25
const recorderWait = "200 millis"

const live = new Conflict({ message: "The session is live; end it first" })
const recording = new Conflict({ message: "The recording is still being finished; try again later" })

const eraseSome = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  blobs: Blobs["Service"],
  ids: ReadonlyArray<string>
) {
  const of = sql`session_id IN (SELECT jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb))`
  const isRecording = exists(sql`SELECT 1 FROM recording_tracks WHERE ${of} AND status = 'active'`)
  for (let tries = 0; yield* Effect.orDie(isRecording); tries++) {
    if (tries === recorderTries) return yield* recording
    yield* Effect.sleep(recorderWait)
  }
  const tracks = yield* Effect.orDie(blobRows(sql`SELECT blob FROM recording_tracks WHERE ${of}`))
  yield* blobs.remove(tracks.map(({ blob }) => blob))
  return yield* sql.withTransaction(eraseRows(sql, of, ids)).pipe(Effect.orDie)
})

/** The sessions first: who stores facts of one waits for them, and then finds it erased. */
const eraseRows = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  of: Statement.Fragment,
  ids: ReadonlyArray<string>
) {
  const stubs = yield* foundRows(sql`SELECT id, status FROM sessions
    WHERE id IN (SELECT jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb)) AND erased_at IS NULL
    ORDER BY id FOR UPDATE`)
  yield* sql`UPDATE sessions SET erased_at = now(), name = '', caller_number = '', sip_call_id = '', timezone = 'UTC',
      end_user_id = '', metadata = '{}', request = ${JSON.stringify(noInput)}::jsonb
    WHERE id IN (SELECT jsonb_array_elements_text(${JSON.stringify(stubs.map(({ id }) => id))}::jsonb))`
  const remove = (table: string) =>
    countOf(sql`WITH gone AS (DELETE FROM ${sql(table)} WHERE ${of} RETURNING 1) SELECT count(*)::int AS n FROM gone`)
  const erased: Erased = {
    sessions: stubs.length,
    items: yield* remove("session_items"),
    journal_entries: yield* remove("session_journal"),
    recordings: yield* remove("recording_tracks"),
    analyses: yield* remove("session_analyses"),
    webhook_deliveries: yield* remove("webhook_deliveries"),
    sip_traces: yield* remove("session_ladders")
  }
  yield* remove("session_turns")
  // The keys that calls were placed with are the customer's own words.
  yield* remove("phone_call_keys")
  return erased
})

const noInput: SessionInput = {
  overrides: {},
  dynamicVariables: {},
  worldContext: true,
  toolEvents: true,
  recordAudio: false
}

const nothing: Erased = {
  sessions: 0,
  items: 0,
  journal_entries: 0,
  recordings: 0,
  analyses: 0,
  webhook_deliveries: 0,
  sip_traces: 0
}

const sum = (one: Erased, other: Erased): Erased => ({
  sessions: one.sessions + other.sessions,
  items: one.items + other.items,
  journal_entries: one.journal_entries + other.journal_entries,
  recordings: one.recordings + other.recordings,
  analyses: one.analyses + other.analyses,
  webhook_deliveries: one.webhook_deliveries + other.webhook_deliveries,
  sip_traces: one.sip_traces + other.sip_traces
})

const FoundRow = Schema.Struct({ id: Schema.String, status: Schema.String })
const foundRows = rowsOf("sessions", FoundRow)

const blobRows = rowsOf("recording_tracks", Schema.Struct({ blob: Schema.String }))
