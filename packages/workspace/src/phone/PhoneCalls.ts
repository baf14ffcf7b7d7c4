// Records of telephone calls on their way: made while they ring, placed at most once for a key, counted against the
// workspace's limits in the transaction that makes them. How a call goes on is `SessionLife`'s affair.
import { Conflict, Invalid, type NotFound, type TooManyRequests } from "@parley/contract/Errors"
import { fault } from "@parley/contract/Fault"
import type { PhoneCallReason } from "@parley/contract/PhoneCall"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ProcessHeartbeats } from "../jobs/ProcessHeartbeats.ts"
import { allowCall } from "../sessions/callAllowance.ts"
import type { SessionRow } from "../sessions/SessionRow.ts"
import { type NewSession, Sessions } from "../sessions/Sessions.ts"
import { Database } from "../storage/Database.ts"
import { SipTraces } from "./SipTraces.ts"
import { rowsOf } from "../storage/rows.ts"

/** A request that has not come to an end within this time died with its process. */
const keyLeaseSeconds = 60

/** A telephone call that is to have a record. */
export interface NewPhoneCall extends Omit<NewSession, "phone" | "preview" | "source"> {
  readonly direction: "inbound" | "outbound"
  /** The far side, as it is written; empty when withheld. */
  readonly callerNumber: string
  /** Ours. */
  readonly dialedNumber: string
  readonly sipCallId: string
}

/** An `Idempotency-Key` with what it was sent for. */
export interface CallKey {
  readonly key: string
  /** Of the request's body. */
  readonly bodyHash: string
}

/** Records of telephone calls. */
export class PhoneCalls extends Context.Service<
  PhoneCalls,
  {
    /** A call that rings here. */
    readonly ring: (call: NewPhoneCall) => Effect.Effect<SessionRow>
    /** A call that is about to be placed; with the key it was entered by. */
    readonly place: (call: NewPhoneCall, key?: CallKey) => Effect.Effect<SessionRow, TooManyRequests | Conflict>
    /** The session that was placed by this key in the last 24 hours; undefined when this request is to place it. */
    readonly enter: (workspace: string, key: CallKey) => Effect.Effect<string | undefined, Invalid | Conflict>
    /** Nothing was placed: the key is as new. */
    readonly leave: (workspace: string, key: CallKey) => Effect.Effect<void>
    readonly keepSipTrace: (sessionId: string, sipTrace: ReadonlyArray<unknown>) => Effect.Effect<void>
    readonly sipTrace: (workspace: string, sessionId: string) => Effect.Effect<ReadonlyArray<unknown>, NotFound>
  }
>()("@parley/workspace/PhoneCalls") {
  static readonly layer: Layer.Layer<
    PhoneCalls,
    never,
    ProcessHeartbeats | Database | Sessions | SipTraces | SqlClient.SqlClient
  > = Layer.effect(
    PhoneCalls,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      const sessions = yield* Sessions
      const sipTraces = yield* SipTraces
      const { processId } = yield* ProcessHeartbeats

      const create = ({ callerNumber, dialedNumber, direction, sipCallId, ...rest }: NewPhoneCall) =>
        sessions.create({
          ...rest,
          preview: false,
          source: "phone",
          phone: { direction, callerNumber, dialedNumber, sipCallId, owner: processId }
        })

      return {
        ring: create,

        place: Effect.fn("PhoneCalls.place")(
          function* (call, key) {
            const workspace = call.workspaceId
            yield* allowCall(sql, workspace)
            const row = yield* create(call)
            if (key === undefined) return row
            const kept = yield* sql`UPDATE phone_call_keys SET session_id = ${row.id}
                WHERE workspace_id = ${workspace} AND key = ${key.key} AND body_hash = ${key.bodyHash}
                  AND session_id IS NULL RETURNING 1`
            // The lease ran out and another request has taken the key over.
            return kept.length > 0 ? row : yield* inFlight
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
        ),

        enter: Effect.fn("PhoneCalls.enter")(function* (workspace, { bodyHash, key }) {
          yield* sql`DELETE FROM phone_call_keys
              WHERE workspace_id = ${workspace} AND created_at < now() - interval '24 hours'`.pipe(Effect.orDie)
          const entered = yield* sql`INSERT INTO phone_call_keys (workspace_id, key, body_hash, claimed_until)
              VALUES (${workspace}, ${key}, ${bodyHash}, now() + make_interval(secs => ${keyLeaseSeconds}))
              ON CONFLICT (workspace_id, key) DO UPDATE
                SET body_hash = EXCLUDED.body_hash, claimed_until = EXCLUDED.claimed_until
                WHERE phone_call_keys.session_id IS NULL AND phone_call_keys.claimed_until < now()
              RETURNING 1`.pipe(Effect.orDie)
          if (entered.length > 0) return undefined
          const rows = yield* keyRows(sql`SELECT body_hash, session_id
              FROM phone_call_keys WHERE workspace_id = ${workspace} AND key = ${key}`).pipe(Effect.orDie)
          const known = rows[0]
          if (known !== undefined && known.body_hash !== bodyHash) return yield* reused
          return known?.session_id ?? (yield* inFlight)
        }),

        leave: (workspace, { bodyHash, key }) =>
          sql`DELETE FROM phone_call_keys WHERE workspace_id = ${workspace} AND key = ${key}
              AND body_hash = ${bodyHash} AND session_id IS NULL`.pipe(Effect.orDie, Effect.asVoid),

        keepSipTrace: sipTraces.keep,
        sipTrace: sipTraces.of
      }
    })
  )
}

const inFlight = new Conflict({
  message: "A request with this Idempotency-Key is being worked on",
  reason: "idempotency_key_conflict" satisfies PhoneCallReason
})

const reused = new Invalid({
  message: "This Idempotency-Key was used for another call",
  reason: "idempotency_key_reuse" satisfies PhoneCallReason,
  errors: [fault(["header", "Idempotency-Key"], "was used for another call")]
})

const keyRows = rowsOf(
  "phone_call_keys",
  Schema.Struct({ body_hash: Schema.String, session_id: Schema.NullOr(Schema.String) })
)
