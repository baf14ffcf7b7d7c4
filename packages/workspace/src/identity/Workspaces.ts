// Whose everything is: each record belongs to one workspace.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../storage/Id.ts"
import { Database } from "../storage/Database.ts"
import { rowsOf } from "../storage/rows.ts"

/** The workspace that exists from the first start. */
export const firstWorkspace = "default"

/** Workspaces by name. */
export class Workspaces extends Context.Service<
  Workspaces,
  {
    /** The id of the workspace of this name, made when there is none. */
    readonly ensure: (name: string) => Effect.Effect<string>
    /** The id of the workspace of this name, where there is one. */
    readonly find: (name: string) => Effect.Effect<string | undefined>
    /** How many there are. */
    readonly count: Effect.Effect<number>
  }
>()("@parley/workspace/Workspaces") {
  static readonly layer: Layer.Layer<Workspaces, never, Database | SqlClient.SqlClient> = Layer.effect(
    Workspaces,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient
      return {
        ensure: Effect.fn("Workspaces.ensure")(function* (name) {
          yield* sql`INSERT INTO workspaces (id, name) VALUES (${newId("ws")}, ${name}) ON CONFLICT (name) DO NOTHING`
          const rows = yield* idRows(sql`SELECT id FROM workspaces WHERE name = ${name}`)
          return rows[0]?.id ?? ""
        }, Effect.orDie),
        count: countRows(sql`SELECT count(*)::int AS count FROM workspaces`).pipe(
          Effect.map((rows) => rows[0]?.count ?? 0),
          Effect.orDie
        ),
        find: (name) =>
          idRows(sql`SELECT id FROM workspaces WHERE name = ${name}`).pipe(
            Effect.map((rows) => rows[0]?.id),
            Effect.orDie
          )
      }
    })
  )
}

const idRows = rowsOf("workspaces", Schema.Struct({ id: Schema.String }))

const countRows = rowsOf("workspaces", Schema.Struct({ count: Schema.Int }))
