// Drafts of agents: a change of one is checked against everything it names. It is stored only where the draft is still
// the one that was read, else the change is made again, at last under a row lock: two PATCHes of different sections
// both count.
import {
  type ConfigPatch,
  redactConfig,
  type ReturnedConfig,
  type StoredConfig
} from "@parley/contract/AgentConfig/AgentConfig"
import { type Catalogue, patchConfig } from "@parley/contract/AgentConfig/patchConfig"
import { systemPromptTokens } from "@parley/contract/AgentConfig/Prompt"
import { BadRequest, type Invalid, invalid, type NotFound, notFound } from "@parley/contract/Errors"
import { fault } from "@parley/contract/Fault"
import { Effect, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { providersOf, transferFaults } from "../dialling/transferFaults.ts"
import { findSources } from "../knowledge/PinnedKnowledge.ts"
import { findMcpServers } from "../mcp/PinnedMcp.ts"
import { readAllowed } from "../outbound/AllowedPrivate.ts"
import { urlFault } from "../outbound/CustomerUrl.ts"
import { Platform } from "../Platform.ts"
import { configHash } from "../storage/configHash.ts"
import { rowsOf } from "../storage/rows.ts"
import { secretOwner } from "../storage/SecretOwner.ts"
import { Secrets } from "../storage/Secrets.ts"
import { findTools } from "../tools/PinnedTools.ts"
import { decodeTool } from "../tools/ToolRow.ts"
import { VoiceModels } from "../voices/VoiceModels.ts"
import { agentFinder, type AgentRow, decodeConfig } from "./AgentRow.ts"
import { pinParts } from "./PinnedParts.ts"
import { exceedsTokens } from "./TokenCount.ts"

/** Changes and views of drafts. */
export interface Drafts {
  /** What the platform offers to every configuration. */
  readonly catalogue: Catalogue
  /** The configuration with the patch, or everything that is wrong with it. What it names stays until the transaction ends. */
  readonly patched: (
    agent: { readonly workspace: string; readonly id: string },
    stored: StoredConfig,
    patch: ConfigPatch
  ) => Effect.Effect<StoredConfig, BadRequest | Invalid>
  /** As the API returns it: without secrets, with the hash of what a session would run. */
  readonly show: (row: AgentRow, draft?: StoredConfig) => Effect.Effect<ReturnedConfig>
  readonly update: (
    workspace: string,
    id: string,
    patch: ConfigPatch
  ) => Effect.Effect<ReturnedConfig, NotFound | BadRequest | Invalid>
}

/** Changes of a draft that are tried without a lock. */
const freeTries = 3

export const make: Effect.Effect<Drafts, never, SqlClient.SqlClient | Platform | Secrets | VoiceModels> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets
    const platform = yield* Platform
    const models = yield* VoiceModels
    const catalogue = catalogueOf(platform)
    const find = agentFinder(sql)

    /** The platform's voices and, when it may be used, the voice model that is asked for. */
    const voicesFor = Effect.fnUntraced(function* (workspace: string, id: string | undefined) {
      if (id === undefined || platform.voices.has(id)) return platform.voices
      const model = yield* models.find(workspace, id)
      return model === undefined ? platform.voices : new Set([...platform.voices, id])
    })

    /** Those of the tools that exist. */
    const toolsFor = Effect.fnUntraced(function* (workspace: string, ids: ReadonlyArray<string>) {
      const rows = yield* findTools(sql, workspace, ids, true)
      const found = new Map(rows.map((row) => [row.id, decodeTool(row.definition)]))
      const functions = [...found.values()].flatMap((tool) => (tool.tool_type === "client" ? [tool.name] : []))
      return new Set(functions).size === functions.length
        ? new Set(found.keys())
        : yield* new BadRequest({ message: "Two client tools of an agent cannot have the same name" })
    })

    const patched: Drafts["patched"] = Effect.fnUntraced(function* ({ id, workspace }, stored, patch) {
      const prompt = patch.prompt?.system_prompt ?? ""
      if (prompt !== stored.prompt.system_prompt && (yield* exceedsTokens(prompt, systemPromptTokens))) {
        return yield* invalid([fault(["body", "prompt", "system_prompt"], "must be at most 32000 tokens")])
      }
      const voices = yield* voicesFor(workspace, patch.voice?.voice_id)
      const toolIds = yield* toolsFor(workspace, patch.tools?.tool_ids ?? [])
      const sources = yield* findSources(sql, workspace, patch.knowledge_base?.knowledge_source_ids ?? [], true)
      const knowledgeSourceIds = new Set(sources.map((source) => source.knowledge_source_id))
      const servers = yield* findMcpServers(sql, workspace, patch.tools?.mcp_server_ids ?? [], true)
      const mcpServerIds = new Set(servers.map((server) => server.id))
      const known = { ...catalogue, voices, toolIds, knowledgeSourceIds, mcpServerIds }
      const next = patchConfig(stored, patch, known, secrets.of(secretOwner.agent(id)).seal)
      return Result.isSuccess(next) ? next.success : yield* invalid(next.failure)
    })

    /** Destinations that were stored before are not judged again. */
    const checkTransfers = Effect.fnUntraced(function* (id: string, stored: StoredConfig, next: StoredConfig) {
      const { callCountries } = platform
      if (callCountries === undefined) return
      const before = new Set(stored.conversation.transfer_destinations.map(targetOf))
      const destinations = next.conversation.transfer_destinations
      const faults = transferFaults(destinations, yield* providersOf(sql, id), callCountries)
      const added = faults.filter(({ field, index }) => !before.has(destinations[index]?.[field] ?? ""))
      if (added.length === 0) return
      return yield* invalid(
        added.map(({ field, index, message }) =>
          fault(["body", "conversation", "transfer_destinations", index, field], message)
        )
      )
    })

    const show: Drafts["show"] = (row, draft = decodeConfig(row.draft)) =>
      Effect.map(pinParts(sql, row.workspace_id, draft, row.draft_hash), ({ hash }) => ({
        ...redactConfig(draft),
        agent_id: row.id,
        config_hash: hash,
        updated_at: row.draft_updated_at.toISOString()
      }))

    /** Undefined when another change came between reading and storing, which `locked` rules out. */
    const change = Effect.fnUntraced(function* (workspace: string, id: string, patch: ConfigPatch, locked: boolean) {
      const row = yield* find(workspace, id, locked ? "update" : undefined)
      const before = decodeConfig(row.draft)
      const next = yield* patched({ workspace, id }, before, patch)
      if (patch.conversation !== undefined) yield* checkTransfers(id, before, next)
      const hash = configHash(next)
      // A new seal over the same secret changes the text but not the hash of the row.
      if (hash === configHash(before)) return yield* show(row, next)
      const [times] = yield* draftTimes(sql`UPDATE agents SET
          draft = ${JSON.stringify(next)}::jsonb, draft_hash = ${hash}, draft_updated_at = now(), updated_at = now()
        WHERE id = ${id} AND draft_hash = ${row.draft_hash} AND deleted_at IS NULL
        RETURNING draft_updated_at`).pipe(Effect.orDie)
      return times && (yield* show({ ...row, ...times, draft_hash: hash }, next))
    })

    return {
      catalogue,
      patched,
      show,
      update: Effect.fnUntraced(function* (workspace, id, patch) {
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
      })
    }
  }
)

const targetOf = ({ phone_number, sip_uri }: StoredConfig["conversation"]["transfer_destinations"][number]): string =>
  sip_uri ?? phone_number ?? ""

const draftTimes = rowsOf("agents", Schema.Struct({ draft_updated_at: Schema.Date }))

const catalogueOf = (platform: Platform["Service"]): Catalogue => ({
  voices: platform.voices,
  asrModels: platform.asrModels,
  llmModels: platform.llmModels,
  toolIds: new Set(),
  knowledgeSourceIds: new Set(),
  urlFault: (url, rules) => urlFault(url, rules, readAllowed(platform.allowedPrivate))
})
