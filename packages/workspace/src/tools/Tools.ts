// The workspace's tools. A foreign or removed tool is not found. A tool that a draft names cannot be
// removed; one that is removed lives on in the versions that were published with it.
import { BadRequest, Conflict, type Invalid, invalid, type NotFound } from "@parley/contract/Errors"
import { fault } from "@parley/contract/Fault"
import type { Page, PageRequest } from "@parley/contract/Page"
import {
  type StoredTool,
  type Tool,
  type ToolAgents,
  type ToolCreate,
  toolFaults,
  type ToolPatch,
  type ToolTest,
  type ToolTestResult
} from "@parley/contract/Tool"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../storage/Id.ts"
import { type AllowedPrivate, readAllowed } from "../outbound/AllowedPrivate.ts"
import { urlFault, webhookRules } from "../outbound/CustomerUrl.ts"
import { SafeHttp } from "../outbound/SafeHttp.ts"
import { likePattern, readPage } from "../storage/Paging.ts"
import { Platform } from "../Platform.ts"
import type { OwnedSecrets } from "../storage/SecretBox.ts"
import { secretOwner } from "../storage/SecretOwner.ts"
import { Secrets } from "../storage/Secrets.ts"
import { Database } from "../storage/Database.ts"
import { keptHeaders, missingParts, openHeaders, sealHeaders } from "./SealedHeaders.ts"
import { contentHash, decodeTool, mergeTool, showTool, type ToolRow, toolRows } from "./ToolRow.ts"
import { tryTool } from "./ToolTrial.ts"
import { finder } from "../storage/records.ts"
import { exists, onlyRow, rowsOf } from "../storage/rows.ts"

/** `search`: part of the name, in any case. */
export interface ToolListQuery extends PageRequest {
  readonly search?: string
  /** Only those its draft names. */
  readonly agent_id?: string
}

/** Tools of a workspace. */
export class Tools extends Context.Service<
  Tools,
  {
    readonly list: (workspace: string, query: ToolListQuery) => Effect.Effect<Page<Tool>, BadRequest>
    readonly create: (workspace: string, input: ToolCreate) => Effect.Effect<Tool, Invalid>
    readonly get: (workspace: string, id: string) => Effect.Effect<Tool, NotFound>
    readonly update: (
      workspace: string,
      id: string,
      patch: ToolPatch
    ) => Effect.Effect<Tool, NotFound | BadRequest | Invalid>
    readonly remove: (workspace: string, id: string) => Effect.Effect<void, NotFound | Conflict>
    readonly agents: (workspace: string, id: string) => Effect.Effect<ToolAgents, NotFound>
    /** A real request; whatever comes of it is the answer. */
    readonly test: (
      workspace: string,
      id: string,
      input: ToolTest
    ) => Effect.Effect<ToolTestResult, NotFound | BadRequest>
  }
>()("@parley/workspace/Tools") {
  static readonly layer: Layer.Layer<Tools, never, Database | SqlClient.SqlClient | Platform | Secrets | SafeHttp> =
    Layer.effect(
      Tools,
      Effect.gen(function* () {
        yield* Database
        const sql = yield* SqlClient.SqlClient
        const secrets = yield* Secrets
        const http = yield* SafeHttp
        const allowed = readAllowed((yield* Platform).allowedPrivate)
        const partsOf = (id: string) => ({ secrets: secrets.of(secretOwner.tool(id)), allowed })

        const usedBy = sql`(SELECT count(*)::int FROM agents a WHERE a.workspace_id = t.workspace_id
        AND a.deleted_at IS NULL AND a.draft->'tools'->'tool_ids' @> to_jsonb(t.id)) AS used_by`

        const find = finder(sql, { table: "tools", noun: "Tool", read: toolRows, columns: sql`t.*, ${usedBy}` })

        const usersOf = (row: ToolRow) =>
          userRows(sql`SELECT id AS agent_id, name FROM agents
          WHERE workspace_id = ${row.workspace_id} AND deleted_at IS NULL
            AND draft->'tools'->'tool_ids' @> to_jsonb(${row.id}::text) ORDER BY seq DESC`).pipe(Effect.orDie)

        return {
          list: Effect.fn("Tools.list")(function* (workspace, query) {
            const conditions = [sql`t.workspace_id = ${workspace}`]
            if (query.search) conditions.push(sql`t.name ILIKE ${likePattern(query.search)}`)
            if (query.agent_id !== undefined) {
              conditions.push(sql`EXISTS (SELECT 1 FROM agents a WHERE a.id = ${query.agent_id}
              AND a.workspace_id = t.workspace_id AND a.deleted_at IS NULL
              AND a.draft->'tools'->'tool_ids' @> to_jsonb(t.id))`)
            }
            return yield* readPage(sql, query, {
              from: "tools",
              read: toolRows,
              beside: usedBy,
              where: conditions,
              show: showTool
            })
          }),

          create: Effect.fn("Tools.create")(function* (workspace, input) {
            const id = newId("tool")
            const tool = yield* merged(partsOf(id), undefined, input)
            const rows = toolRows(sql`INSERT INTO tools (id, workspace_id, name, definition, content_hash)
            VALUES (${id}, ${workspace}, ${tool.name}, ${JSON.stringify(tool)}::jsonb, ${contentHash(tool)})
            RETURNING *`)
            return showTool(yield* onlyRow(rows).pipe(Effect.orDie))
          }),

          get: Effect.fn("Tools.get")(function* (workspace, id) {
            return showTool(yield* find(workspace, id))
          }),

          update: Effect.fn("Tools.update")(
            function* (workspace, id, patch) {
              const row = yield* find(workspace, id, "update")
              const stored = decodeTool(row.definition)
              const tool = yield* merged(partsOf(id), stored, patch)
              if (tool.tool_type === "client" && tool.name !== stored.name) yield* noClash(sql, row, tool.name)
              yield* sql`UPDATE tools SET name = ${tool.name}, definition = ${JSON.stringify(tool)}::jsonb,
              content_hash = ${contentHash(tool) === contentHash(stored) ? row.content_hash : contentHash(tool)}, updated_at = now() WHERE id = ${id}`
              return showTool(yield* find(workspace, id))
            },
            (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
          ),

          remove: Effect.fn("Tools.remove")(
            function* (workspace, id) {
              const row = yield* find(workspace, id, "update")
              const users = yield* usersOf(row)
              if (users.length > 0) {
                const agents = users.length === 1 ? "1 agent" : `${users.length} agents`
                return yield* new Conflict({ message: `The tool is attached to ${agents}` })
              }
              yield* sql`DELETE FROM tools WHERE id = ${id}`
            },
            (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
          ),

          agents: Effect.fn("Tools.agents")(function* (workspace, id) {
            const agents = yield* usersOf(yield* find(workspace, id))
            return { agents, total: agents.length }
          }),

          test: Effect.fn("Tools.test")(function* (workspace, id, input) {
            const tool = decodeTool((yield* find(workspace, id)).definition)
            if (tool.tool_type === "client") {
              return yield* new BadRequest({
                message: "A client tool runs in the customer's app and cannot be tested here"
              })
            }
            return yield* tryTool(http, tool, secrets.of(secretOwner.tool(id)).open, input.arguments ?? {})
          })
        }
      })
    )
}

/** Fails when an agent of this client tool has another one of that name. */
const noClash = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, { id, workspace_id }: ToolRow, name: string) {
  const clashes = yield* exists(sql`SELECT 1 FROM agents a, tools t
    WHERE a.workspace_id = ${workspace_id} AND a.deleted_at IS NULL AND t.workspace_id = ${workspace_id}
      AND a.draft->'tools'->'tool_ids' @> to_jsonb(${id}::text)
      AND a.draft->'tools'->'tool_ids' @> to_jsonb(t.id)
      AND t.id <> ${id} AND t.name = ${name} AND t.definition->>'tool_type' = 'client' LIMIT 1`)
  if (clashes) return yield* new BadRequest({ message: "An agent of this tool has another client tool of that name" })
})

/** The tool as it is to be stored, or everything that is wrong with it. */
const merged = Effect.fnUntraced(function* (
  { allowed, secrets }: { readonly allowed: AllowedPrivate; readonly secrets: OwnedSecrets },
  stored: StoredTool | undefined,
  sent: ToolCreate | ToolPatch
) {
  const kept = keptHeaders(stored, sent.url ?? stored?.url ?? "")
  const headers = sent.headers === undefined ? kept : sealHeaders(secrets, sent.headers, kept)
  const tool = mergeTool(stored, sent, headers)
  const faults = [...toolFaults(tool, openHeaders(secrets, headers))]
  if (stored !== undefined && tool.tool_type !== stored.tool_type) {
    faults.push(fault(["body", "tool_type"], "cannot be changed"))
  }
  faults.push(...missingParts(sent.headers ?? [], kept))
  if (tool.url !== "" && tool.url !== stored?.url) {
    const wrong = urlFault(tool.url, webhookRules, allowed)
    if (wrong !== undefined) faults.push(fault(["body", "url"], wrong))
  }
  return faults.length > 0 ? yield* invalid(faults) : tool
})

const userRows = rowsOf("agents", Schema.Struct({ agent_id: Schema.String, name: Schema.String }))
