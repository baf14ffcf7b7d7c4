// Agents and their drafts (decisions 6). A foreign or deleted agent is not found. A draft is stored only where it is
// still the one that was read, else the change is made again, at last under a row lock: two PATCHes of different
// sections both count.
import type { Agent, AgentCreate, AgentPatch } from "@parley/contract/Agent"
import {
  type ConfigPatch,
  redactConfig,
  type ReturnedConfig,
  StoredConfig
} from "@parley/contract/AgentConfig/AgentConfig"
import { type Catalogue, defaultConfig, patchConfig } from "@parley/contract/AgentConfig/patchConfig"
import { systemPromptTokens } from "@parley/contract/AgentConfig/Prompt"
import { BadRequest, Invalid, invalid, type NotFound, notFound } from "@parley/contract/Errors"
import { fault } from "@parley/contract/Fault"
import type { Page, PageRequest } from "@parley/contract/Page"
import { Context, Effect, Layer, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { configHash } from "./ConfigHash.ts"
import { newId } from "../storage/Id.ts"
import { findSources, pinKnowledge } from "../knowledge/PinnedKnowledge.ts"
import { findMcpServers, pinMcp } from "../mcp/PinnedMcp.ts"
import { readAllowed } from "../outbound/AllowedPrivate.ts"
import { urlFault } from "../outbound/CustomerUrl.ts"
import { closeWindow, likePattern, openWindow } from "../storage/Paging.ts"
import { Platform } from "../Platform.ts"
import { Secrets } from "../storage/Secrets.ts"
import { Database } from "../storage/Database.ts"
import { findTools, pinTools } from "../tools/PinnedTools.ts"
import { decodeTool } from "../tools/ToolRow.ts"
import { exceedsTokens } from "./TokenCount.ts"
import { VoiceModels } from "../voices/VoiceModels.ts"

export interface AgentQuery extends PageRequest {
  readonly search?: string
  readonly include_archived?: "true" | "false"
  readonly publication_state?: "all" | "live" | "draft"
}

/** Without a lock. */
const freeTries = 3

export interface PublicAgent {
  readonly workspaceId: string
  readonly name: string
  readonly isPublic: boolean
  readonly allowedOrigins: ReadonlyArray<string>
  /** Active, and published. */
  readonly isAvailable: boolean
}

export class Agents extends Context.Service<
  Agents,
  {
    readonly list: (workspace: string, query: AgentQuery) => Effect.Effect<Page<Agent>, BadRequest>
    readonly create: (workspace: string, input: AgentCreate) => Effect.Effect<Agent, BadRequest | Invalid>
    readonly get: (workspace: string, id: string) => Effect.Effect<Agent, NotFound>
    readonly update: (workspace: string, id: string, patch: AgentPatch) => Effect.Effect<Agent, NotFound>
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
        const secrets = yield* Secrets
        const platform = yield* Platform
        const catalogue = catalogueOf(platform)
        /** Without the draft, which may be long. */
        const shown = sql.literal(shownColumns)
        const models = yield* VoiceModels

        const find = Effect.fnUntraced(function* (workspace: string, id: string, forUpdate = false) {
          const lock = forUpdate ? sql`FOR UPDATE` : sql``
          const rows = yield* sql<AgentRow>`SELECT * FROM agents
          WHERE id = ${id} AND workspace_id = ${workspace} AND deleted_at IS NULL ${lock}`.pipe(Effect.orDie)
          const row = rows[0]
          return row === undefined ? yield* notFound("Agent") : row
        })

        const insert = (workspace: string, name: string, description: string, draft: StoredConfig) =>
          sql<AgentRow>`INSERT INTO agents (id, workspace_id, name, description, draft, draft_hash)
          VALUES (${newId("agent")}, ${workspace}, ${name}, ${description},
            ${JSON.stringify(draft)}::jsonb, ${configHash(draft)}) RETURNING *`.pipe(Effect.map(only), Effect.orDie)

        /** The platform's voices and, when it may be used, the voice model that is asked for. */
        const voicesFor = Effect.fnUntraced(function* (workspace: string, id: string | undefined) {
          if (id === undefined || platform.voices.has(id)) return platform.voices
          const model = yield* models.find(workspace, id)
          return model === undefined ? platform.voices : new Set([...platform.voices, id])
        })

        /** Those of the tools that exist. They stay until the transaction ends. */
        const toolsFor = Effect.fnUntraced(function* (workspace: string, ids: ReadonlyArray<string>) {
          const rows = yield* findTools(sql, workspace, ids, true)
          const found = new Map(rows.map((row) => [row.id, decodeTool(row.definition)]))
          const functions = [...found.values()].flatMap((tool) => (tool.tool_type === "client" ? [tool.name] : []))
          return new Set(functions).size === functions.length
            ? new Set(found.keys())
            : yield* new BadRequest({ message: "Two client tools of an agent cannot have the same name" })
        })

        const showConfig = (row: AgentRow, draft: StoredConfig = decodeConfig(row.draft)) => {
          const ids = draft.knowledge_base.knowledge_source_ids
          return pinTools(sql, row.workspace_id, draft.tools.tool_ids, row.draft_hash).pipe(
            Effect.flatMap(({ hash }) => pinKnowledge(sql, row.workspace_id, ids, hash)),
            Effect.flatMap(({ hash }) => pinMcp(sql, row.workspace_id, draft.tools.mcp_server_ids ?? [], hash)),
            Effect.map(({ hash }): ReturnedConfig => ({
              ...redactConfig(draft),
              agent_id: row.id,
              config_hash: hash,
              updated_at: row.draft_updated_at.toISOString()
            }))
          )
        }

        const apply = Effect.fnUntraced(function* (workspace: string, stored: StoredConfig, patch: ConfigPatch) {
          const prompt = patch.prompt?.system_prompt ?? ""
          if (prompt !== stored.prompt.system_prompt && (yield* exceedsTokens(prompt, systemPromptTokens))) {
            return yield* invalid([fault(["body", "prompt", "system_prompt"], "must be at most 32000 tokens")])
          }
          const voices = yield* voicesFor(workspace, patch.voice?.voice_id)
          const toolIds = yield* toolsFor(workspace, patch.tools?.tool_ids ?? [])
          // They stay until the transaction ends.
          const sources = yield* findSources(sql, workspace, patch.knowledge_base?.knowledge_source_ids ?? [], true)
          const knowledgeSourceIds = new Set(sources.map((source) => source.knowledge_source_id))
          const servers = yield* findMcpServers(sql, workspace, patch.tools?.mcp_server_ids ?? [], true)
          const mcpServerIds = new Set(servers.map((server) => server.id))
          const known = { ...catalogue, voices, toolIds, knowledgeSourceIds, mcpServerIds }
          const next = patchConfig(stored, patch, known, secrets.seal)
          return Result.isSuccess(next) ? next.success : yield* invalid(next.failure)
        })

        /** Undefined when another change came between reading and storing, which `locked` rules out. */
        const change = Effect.fnUntraced(function* (
          workspace: string,
          id: string,
          patch: ConfigPatch,
          locked: boolean
        ) {
          const row = yield* find(workspace, id, locked)
          const next = yield* apply(workspace, decodeConfig(row.draft), patch)
          const hash = configHash(next)
          if (hash === row.draft_hash) return yield* showConfig(row, next)
          const rows = yield* sql<Pick<AgentRow, "draft_updated_at">>`UPDATE agents SET
              draft = ${JSON.stringify(next)}::jsonb, draft_hash = ${hash}, draft_updated_at = now(), updated_at = now()
            WHERE id = ${id} AND draft_hash = ${row.draft_hash} AND deleted_at IS NULL
            RETURNING draft_updated_at`.pipe(Effect.orDie)
          return rows[0] && (yield* showConfig({ ...row, ...rows[0], draft_hash: hash }, next))
        })

        return {
          list: Effect.fnUntraced(function* (workspace, query) {
            const window = yield* openWindow(query)
            const conditions = [sql`workspace_id = ${workspace}`, sql`deleted_at IS NULL`]
            if (query.include_archived !== "true") conditions.push(sql`status = 'active'`)
            if (query.publication_state === "live") conditions.push(sql`live_version IS NOT NULL`)
            if (query.publication_state === "draft") conditions.push(sql`live_version IS NULL`)
            if (query.search) conditions.push(sql`name ILIKE ${likePattern(query.search)}`)
            const filter = sql.and(conditions)
            const keyset = window.after ? sql`AND seq < ${window.after}::bigint` : sql``
            const rows = yield* sql<ShownRow>`SELECT ${shown} FROM agents WHERE ${filter} ${keyset}
            ORDER BY seq DESC LIMIT ${window.limit} OFFSET ${window.offset}`.pipe(Effect.orDie)
            const total = window.counted
              ? yield* sql<{ n: number }>`SELECT count(*)::int AS n FROM agents WHERE ${filter}`.pipe(
                  Effect.map((counted) => counted[0]?.n ?? 0),
                  Effect.orDie
                )
              : null
            return closeWindow(window, rows, total, (row) => row.seq, show)
          }),

          create: Effect.fn("Agents.create")(
            function* (workspace, input) {
              const draft = yield* apply(workspace, defaultConfig(catalogue), input.config ?? {}).pipe(
                Effect.mapError((error) =>
                  error instanceof Invalid
                    ? invalid(error.errors.map(({ loc, ...rest }) => ({ loc: under(loc), ...rest })))
                    : error
                )
              )
              return show(yield* insert(workspace, input.name, input.description ?? "", draft))
            },
            (effect, _workspace, { config }) =>
              config?.tools === undefined && config?.knowledge_base === undefined
                ? effect
                : sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
          ),

          get: Effect.fnUntraced(function* (workspace, id) {
            const rows = yield* sql<ShownRow>`SELECT ${shown} FROM agents
              WHERE id = ${id} AND workspace_id = ${workspace} AND deleted_at IS NULL`.pipe(Effect.orDie)
            return rows[0] === undefined ? yield* notFound("Agent") : show(rows[0])
          }),

          update: Effect.fn("Agents.update")(function* (workspace, id, patch) {
            yield* find(workspace, id)
            const rows = yield* sql<AgentRow>`UPDATE agents SET
              name = coalesce(${patch.name ?? null}, name),
              description = coalesce(${patch.description ?? null}, description),
              status = coalesce(${patch.status ?? null}, status),
              public_enabled = coalesce(${patch.public_enabled ?? null}::boolean, public_enabled),
              allowed_origins = coalesce(${jsonOrNull(patch.allowed_origins)}::jsonb, allowed_origins),
              overrides_allowed = coalesce(${jsonOrNull(patch.overrides_allowed)}::jsonb, overrides_allowed),
              updated_at = now()
            WHERE id = ${id} RETURNING *`.pipe(Effect.orDie)
            return show(only(rows))
          }),

          remove: Effect.fn("Agents.remove")(function* (workspace, id) {
            yield* find(workspace, id)
            yield* sql`UPDATE agents SET deleted_at = now() WHERE id = ${id}`.pipe(Effect.orDie)
            // Its numbers ring busy.
            yield* sql`UPDATE phone_numbers SET agent_id = NULL WHERE agent_id = ${id}`.pipe(Effect.orDie)
          }),

          config: Effect.fnUntraced(function* (workspace, id) {
            return yield* showConfig(yield* find(workspace, id))
          }),

          updateConfig: Effect.fnUntraced(function* (workspace, id, patch) {
            // What a draft refers to must be there until it is stored.
            const refers = patch.tools !== undefined || patch.knowledge_base !== undefined
            for (let left = refers ? 0 : freeTries; left > 0; left--) {
              const changed = yield* change(workspace, id, patch, false)
              if (changed !== undefined) return changed
            }
            const changed = yield* sql
              .withTransaction(change(workspace, id, patch, true))
              .pipe(Effect.catchTag("SqlError", Effect.die))
            return changed ?? (yield* notFound("Agent"))
          }),

          publicFace: Effect.fn("Agents.publicFace")(function* (id) {
            const rows = yield* sql<AgentRow>`SELECT * FROM agents WHERE id = ${id} AND deleted_at IS NULL`.pipe(
              Effect.orDie
            )
            return rows[0] && showPublic(rows[0])
          }),

          duplicate: Effect.fn("Agents.duplicate")(function* (workspace, id, name) {
            const row = yield* find(workspace, id)
            const copy = name ?? `${row.name.slice(0, 113).toWellFormed()} (copy)`
            return show(yield* insert(workspace, copy, row.description, decodeConfig(row.draft)))
          })
        }
      })
    )
}

/** A row of `agents`. */
export interface AgentRow {
  readonly seq: bigint
  readonly id: string
  readonly workspace_id: string
  readonly name: string
  readonly description: string
  readonly status: Agent["status"]
  readonly public_enabled: boolean
  readonly allowed_origins: Agent["allowed_origins"]
  readonly overrides_allowed: Agent["overrides_allowed"]
  readonly draft: unknown
  readonly draft_hash: string
  readonly draft_updated_at: Date
  readonly live_version: number | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** Fields added since the config was stored take their defaults. Its values were checked before. */
export const decodeConfig: (stored: unknown) => StoredConfig = Schema.decodeUnknownSync(StoredConfig, {
  disableChecks: true
})

export const catalogueOf = (platform: Platform["Service"]): Catalogue => ({
  voices: platform.voices,
  asrModels: platform.asrModels,
  llmModels: platform.llmModels,
  toolIds: new Set(),
  knowledgeSourceIds: new Set(),
  urlFault: (url, rules) => urlFault(url, rules, readAllowed(platform.allowedPrivate))
})

const showPublic = (row: AgentRow): PublicAgent => ({
  workspaceId: row.workspace_id,
  name: row.name,
  isPublic: row.public_enabled,
  allowedOrigins: row.allowed_origins,
  isAvailable: row.status === "active" && row.live_version !== null
})

type ShownRow = Omit<AgentRow, "draft" | "draft_hash" | "draft_updated_at">

const shownColumns =
  "seq, id, workspace_id, name, description, status, public_enabled, allowed_origins, overrides_allowed, " +
  "live_version, created_at, updated_at"

const show = (row: ShownRow): Agent => ({
  agent_id: row.id,
  workspace_id: row.workspace_id,
  name: row.name,
  description: row.description,
  status: row.status,
  publication_state: row.live_version === null ? "draft" : "live",
  public_enabled: row.public_enabled,
  allowed_origins: row.allowed_origins,
  overrides_allowed: row.overrides_allowed,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString()
})

const jsonOrNull = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value))

const under = (loc: ReadonlyArray<string | number>) => ["body", "config", ...loc.slice(1)]

const only = <A>(rows: ReadonlyArray<A>): A => {
  const row = rows[0]
  if (row === undefined) throw new Error("a statement that returns its row returned none")
  return row
}
