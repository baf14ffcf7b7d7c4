// Numbers as the telephone sees them: which one is called, who may call it, where its calls go. Read for every call, so
// that a binding, a trunk or a release counts from the next one.
import type { PhoneProvider } from "@parley/contract/PhoneNumber"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Database } from "../storage/Database.ts"
import { exists } from "../storage/rows.ts"
import { dialledNumbers } from "./dialledNumbers.ts"
import { Inventory } from "./Inventory.ts"
import { isOwn, numberFinder, numberRows, type PhoneNumberRow } from "./PhoneNumberRow.ts"
import { type SecretOwner, secretOwner } from "../storage/SecretOwner.ts"
import type { StoredTrunk } from "./Trunk.ts"

/** A number as the telephone uses it. */
export interface PhoneLine {
  readonly id: string
  readonly workspaceId: string
  /** E.164. */
  readonly phoneNumber: string
  readonly provider: PhoneProvider
  readonly status: PhoneNumberRow["status"]
  /** Null: nobody answers. */
  readonly agentId: string | null
  /** Whether whom a call is handed to sees its original caller. */
  readonly showsOriginalCaller: boolean
  /** Undefined for a number whose inventory no longer knows it. */
  readonly trunk: StoredTrunk | undefined
  /** Whose its passwords are. */
  readonly trunkOwner: SecretOwner
}

/** Imports of one number that a call is matched against. */
const mostLines = 1_000

/** Numbers by what is dialled. */
export class PhoneLines extends Context.Service<
  PhoneLines,
  {
    /**
     * The active numbers that somebody may mean, however a carrier writes it: bought ones first, then the best reading of
     * what was dialled, then the oldest. A number that several workspaces imported is there for each of them.
     */
    readonly dialled: (raw: string) => Effect.Effect<ReadonlyArray<PhoneLine>>
    readonly byId: (id: string) => Effect.Effect<PhoneLine | undefined>
    /** A number of this workspace that was not released. */
    readonly ofWorkspace: (workspace: string, id: string) => Effect.Effect<PhoneLine | undefined>
    /** The workspace's number that a session's call is held by. */
    readonly ofSession: (sessionId: string) => Effect.Effect<PhoneLine | undefined>
    /** Whether a number is one that somebody bought here, or the workspace's own. Imports of others say nothing of it. */
    readonly isOwn: (workspace: string, phoneNumber: string) => Effect.Effect<boolean>
    /** Whether the operator lets this workspace place calls. */
    readonly mayDial: (workspace: string) => Effect.Effect<boolean>
    readonly allowDialling: (workspace: string, allowed: boolean) => Effect.Effect<void>
  }
>()("@parley/workspace/PhoneLines") {
  static readonly layer: Layer.Layer<PhoneLines, never, Database | SqlClient.SqlClient | Inventory> = Layer.effect(
    PhoneLines,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      const inventory = yield* Inventory
      const find = numberFinder(sql)

      const lineOf = Effect.fnUntraced(function* (row: PhoneNumberRow) {
        const line: PhoneLine = {
          id: row.id,
          workspaceId: row.workspace_id,
          phoneNumber: row.phone_number,
          provider: row.provider,
          status: row.status,
          agentId: row.agent_id,
          showsOriginalCaller: row.use_original_caller === true,
          trunk: row.trunk ?? (yield* inventory.trunkOf(row.phone_number)),
          trunkOwner: row.trunk === null ? secretOwner.stockedNumber(row.phone_number) : secretOwner.number(row.id)
        }
        return line
      })

      const firstLine = ([row]: ReadonlyArray<PhoneNumberRow>) => (row === undefined ? Effect.undefined : lineOf(row))

      return {
        dialled: Effect.fn("PhoneLines.dialled")(function* (raw) {
          const candidates = dialledNumbers(raw)
          if (candidates.length === 0) return []
          const rows = yield* numberRows(sql`SELECT * FROM phone_numbers
            WHERE status = 'active' AND ${sql.in("phone_number", candidates)}
            ORDER BY provider = 'sip', array_position(${candidates}::text[], phone_number), seq
            LIMIT ${mostLines}`).pipe(Effect.orDie)
          return yield* Effect.forEach(rows, (row) => lineOf(row))
        }),
        byId: (id) =>
          numberRows(sql`SELECT * FROM phone_numbers WHERE id = ${id} AND status = 'active'`).pipe(
            Effect.orDie,
            Effect.flatMap(firstLine)
          ),
        ofWorkspace: (workspace, id) =>
          find(workspace, id).pipe(
            Effect.flatMap(lineOf),
            Effect.orElseSucceed(() => undefined)
          ),
        ofSession: (sessionId) =>
          numberRows(sql`SELECT n.* FROM sessions s
            JOIN phone_numbers n ON n.workspace_id = s.workspace_id AND n.phone_number = s.dialed_number
            WHERE s.id = ${sessionId} AND s.source = 'phone' AND n.status = 'active'`).pipe(
            Effect.orDie,
            Effect.flatMap(firstLine)
          ),
        isOwn: (workspace, phoneNumber) => isOwn(sql, workspace, phoneNumber),
        mayDial: (workspace) =>
          Effect.orDie(exists(sql`SELECT 1 FROM workspaces WHERE id = ${workspace} AND outbound_calls`)),
        allowDialling: (workspace, allowed) =>
          sql`UPDATE workspaces SET outbound_calls = ${allowed} WHERE id = ${workspace}`.pipe(
            Effect.orDie,
            Effect.asVoid
          )
      }
    })
  )
}
