// Agents: made, listed, changed, removed, each with a draft (`Drafts.ts`). A foreign or deleted agent is not found;
// what belongs to a deleted one (sessions, versions) stays.
import type { Agent, AgentCreate, AgentPatch, PublicField } from "@parley/contract/Agent"
import type { ConfigPatch, ReturnedConfig, StoredConfig } from "@parley/contract/AgentConfig/AgentConfig"
import { defaultConfig } from "@parley/contract/AgentConfig/patchConfig"
import { type BadRequest, Invalid, invalid, type NotFound } from "@parley/contract/Errors"
import type { Page, PageRequest } from "@parley/contract/Page"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Platform } from "../Platform.ts"
import { configHash } from "../storage/configHash.ts"
import { Database } from "../storage/Database.ts"
import { newId } from "../storage/Id.ts"
import { closeWindow, countWhen, likePattern, openWindow } from "../storage/Paging.ts"
import { onlyRow } from "../storage/rows.ts"
import { secretOwner } from "../storage/SecretOwner.ts"
import { Secrets } from "../storage/Secrets.ts"
import type { VoiceModels } from "../voices/VoiceModels.ts"
import {
  agentFinder,
  agentRows,
  decodeConfig,
  showAgent,
  type ShownAgent,
  shownAgentFinder,
  shownAgents,
  shownColumns
} from "./AgentRow.ts"
import * as Drafts from "./Drafts.ts"

/** Which agents a list shows; archived ones only when asked for. */
export interface AgentQuery extends PageRequest {
  /** Part of the name, in any case. */
  readonly search?: string
  readonly include_archived?: "true" | "false"
  readonly publication_state?: "all" | "live" | "draft"
}

/** What a visitor without a key may know of an agent. */
export interface PublicAgent {
  readonly workspaceId: string
  readonly name: string
  readonly isPublic: boolean
  /** Origins (scheme, host, port) whose pages may call it; empty for any. */
  readonly allowedOrigins: ReadonlyArray<string>
  /** What a visitor's session may carry besides the agent. */
  readonly fieldsAllowed: ReadonlyArray<PublicField>
  /** Active, and published. */
  readonly isAvailable: boolean
}

/** Agents of a workspace. */
export class Agents extends Context.Service<
  Agents,
  {
    /** Newest first. */
    readonly list: (workspace: string, query: AgentQuery) => Effect.Effect<Page<Agent>, BadRequest>
    readonly create: (workspace: string, input: AgentCreate) => Effect.Effect<Agent, BadRequest | Invalid>
    readonly get: (workspace: string, id: string) => Effect.Effect<Agent, NotFound>
    readonly update: (workspace: string, id: string, patch: AgentPatch) => Effect.Effect<Agent, NotFound>
    /** Its telephone numbers are unbound and ring busy. */
    readonly remove: (workspace: string, id: string) => Effect.Effect<void, NotFound>
    readonly config: (workspace: string, id: string) => Effect.Effect<ReturnedConfig, NotFound>
    readonly updateConfig: (
      workspace: string,
      id: string,
      patch: ConfigPatch
    ) => Effect.Effect<ReturnedConfig, NotFound | BadRequest | Invalid>
    /** What a visitor without a key may know; undefined when there is no such agent. */
    readonly publicFace: (id: string) => Effect.Effect<PublicAgent | undefined>
    /** A new agent with the same draft, unpublished. */
    readonly duplicate: (workspace: string, id: string, name: string | undefined) => Effect.Effect<Agent, NotFound>
  }
>()("@parley/workspace/Agents") {
  static readonly layer: Layer.Layer<Agents, never, Database | SqlClient.SqlClient | Platform | Secrets | VoiceModels> =
    Layer.effect(
      Agents,
      Effect.gen(function* () {
        yield* Database
        const sql = yield* SqlClient.SqlClient
        const drafts = yield* Drafts.make
        const find = agentFinder(sql)
        const findShown = shownAgentFinder(sql)

        const { moved } = yield* Secrets

        type NewAgent = {
          readonly workspace: string
          readonly id: string
          readonly name: string
          readonly description: string
        }
        const insert = ({ description, id, name, workspace }: NewAgent, draft: StoredConfig) =>
          agentRows(sql`INSERT INTO agents (id, workspace_id, name, description, draft, draft_hash)
          VALUES (${id}, ${workspace}, ${name}, ${description},
            ${JSON.stringify(draft)}::jsonb, ${configHash(draft)}) RETURNING *`).pipe(onlyRow, Effect.orDie)

        return {
          list: Effect.fnUntraced(function* (workspace, query) {
            const window = yield* openWindow(query)
            const filter = sql.and(conditionsOf(sql, workspace, query))
            const keyset = window.after ? sql`AND seq < ${window.after}::bigint` : sql``
            const rows = yield* shownAgents(sql`SELECT ${sql.literal(shownColumns)} FROM agents
              WHERE ${filter} ${keyset} ORDER BY seq DESC LIMIT ${window.limit} OFFSET ${window.offset}`).pipe(
              Effect.orDie
            )
            const total = yield* countWhen(window, sql`SELECT count(*)::int AS n FROM agents WHERE ${filter}`)
            return closeWindow(window, rows, total, (row) => row.seq, showAgent)
          }),

          create: Effect.fn("Agents.create")(
            function* (workspace, input) {
              const id = newId("agent")
              const draft = yield* drafts
                .patched({ workspace, id }, defaultConfig(drafts.catalogue), input.config ?? {})
                .pipe(Effect.mapError(underConfig))
              return showAgent(
                yield* insert({ workspace, id, name: input.name, description: input.description ?? "" }, draft)
              )
            },
            (effect, _workspace, { config }) =>
              config?.tools === undefined && config?.knowledge_base === undefined
                ? effect
                : sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
          ),

          get: (workspace, id) => Effect.map(findShown(workspace, id), showAgent),

          update: Effect.fn("Agents.update")(function* (workspace, id, patch) {
            yield* findShown(workspace, id)
            const rows = shownAgents(sql`UPDATE agents SET
              name = coalesce(${patch.name ?? null}, name),
              description = coalesce(${patch.description ?? null}, description),
              status = coalesce(${patch.status ?? null}, status),
              public_enabled = coalesce(${patch.public_enabled ?? null}::boolean, public_enabled),
              allowed_origins = coalesce(${jsonOrNull(patch.allowed_origins)}::jsonb, allowed_origins),
              overrides_allowed = coalesce(${jsonOrNull(patch.overrides_allowed)}::jsonb, overrides_allowed),
              public_fields_allowed = coalesce(${jsonOrNull(patch.public_fields_allowed)}::jsonb, public_fields_allowed),
              updated_at = now()
            WHERE id = ${id} RETURNING ${sql.literal(shownColumns)}`)
            return showAgent(yield* onlyRow(rows).pipe(Effect.orDie))
          }),

          remove: Effect.fn("Agents.remove")(function* (workspace, id) {
            yield* findShown(workspace, id)
            yield* sql`UPDATE agents SET deleted_at = now() WHERE id = ${id}`.pipe(Effect.orDie)
            yield* sql`UPDATE phone_numbers SET agent_id = NULL WHERE agent_id = ${id}`.pipe(Effect.orDie)
          }),

          config: (workspace, id) => Effect.flatMap(find(workspace, id), drafts.show),

          updateConfig: drafts.update,

          publicFace: Effect.fn("Agents.publicFace")(function* (id) {
            const [row] = yield* shownAgents(sql`SELECT ${sql.literal(shownColumns)} FROM agents
              WHERE id = ${id} AND deleted_at IS NULL`).pipe(Effect.orDie)
            return row && publicFaceOf(row)
          }),

          duplicate: Effect.fn("Agents.duplicate")(function* (workspace, id, name) {
            const row = yield* find(workspace, id)
            const copy = name ?? `${row.name.slice(0, 113).toWellFormed()} (copy)`
            const made = newId("agent")
            // The copy is another owner's.
            const draft = moved(JSON.stringify(row.draft), secretOwner.agent(id), secretOwner.agent(made))
            return showAgent(
              yield* insert(
                { workspace, id: made, name: copy, description: row.description },
                decodeConfig(JSON.parse(draft))
              )
            )
          })
        }
      })
    )
}

const conditionsOf = (sql: SqlClient.SqlClient, workspace: string, query: AgentQuery) => [
  sql`workspace_id = ${workspace}`,
  sql`deleted_at IS NULL`,
  ...(query.include_archived === "true" ? [] : [sql`status = 'active'`]),
  ...(query.publication_state === "live" ? [sql`live_version IS NOT NULL`] : []),
  ...(query.publication_state === "draft" ? [sql`live_version IS NULL`] : []),
  ...(query.search ? [sql`name ILIKE ${likePattern(query.search)}`] : [])
]

const publicFaceOf = (row: ShownAgent): PublicAgent => ({
  workspaceId: row.workspace_id,
  name: row.name,
  isPublic: row.public_enabled,
  allowedOrigins: row.allowed_origins,
  fieldsAllowed: row.public_fields_allowed,
  isAvailable: row.status === "active" && row.live_version !== null
})

const jsonOrNull = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value))

/** In the body of a creation the configuration lies one level deeper. */
const underConfig = (error: BadRequest | Invalid): BadRequest | Invalid =>
  error instanceof Invalid
    ? invalid(error.errors.map(({ loc, ...rest }) => ({ loc: ["body", "config", ...loc.slice(1)], ...rest })))
    : error
