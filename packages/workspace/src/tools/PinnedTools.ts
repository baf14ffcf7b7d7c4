// The tools an agent's draft names, as they are now. Publishing stores them beside the configuration, so that a
// version runs them as they were; the hash that is shown covers both, so that editing a tool shows its agents as
// changed without touching them.
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { configHash } from "../storage/configHash.ts"
import { decodeTool, type RunnableTool, type ToolRow, toolRows } from "./ToolRow.ts"

/** Tools, and the hash of a configuration with them. */
export interface PinnedTools {
  readonly tools: ReadonlyArray<RunnableTool>
  /** Of draft and tools together. */
  readonly hash: string
}

/** `forShare`: nobody removes one of them before the transaction ends. */
export const findTools = (
  sql: SqlClient.SqlClient,
  workspace: string,
  ids: ReadonlyArray<string>,
  forShare = false
): Effect.Effect<ReadonlyArray<ToolRow>> =>
  ids.length === 0
    ? Effect.succeed([])
    : toolRows(sql`SELECT * FROM tools WHERE workspace_id = ${workspace} AND ${sql.in("id", ids)}
        ORDER BY id ${forShare ? sql`FOR SHARE` : sql``}`).pipe(
        // In the order the draft names them.
        Effect.map((rows) => ids.flatMap((id) => rows.filter((row) => row.id === id))),
        Effect.orDie
      )

/** The tools as they are now, in the order of the ids. */
export const pinTools = (
  sql: SqlClient.SqlClient,
  workspace: string,
  ids: ReadonlyArray<string>,
  draftHash: string
): Effect.Effect<PinnedTools> =>
  Effect.map(findTools(sql, workspace, ids), (rows) => ({
    tools: rows.map((row) => ({ tool_id: row.id, definition: decodeTool(row.definition) })),
    hash:
      rows.length === 0
        ? draftHash
        : configHash({ draft: draftHash, tools: rows.map((row) => [row.id, row.content_hash]) })
  }))
