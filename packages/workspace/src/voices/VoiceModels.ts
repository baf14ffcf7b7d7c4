// Voice models: kept, listed, used, changed, removed. A model is its workspace's own; one that is
// `unlist` may be read and spoken with by any workspace that knows its id, and is in nobody else's list. Removing one
// removes its recordings; what a crash leaves behind goes at the next start.
import { type BadRequest, Forbidden, type NotFound, notFound } from "@parley/contract/Errors"
import type { Visibility, VoiceModel, VoiceModelPage, VoiceModelQuery } from "@parley/contract/VoiceModel"
import type { VoiceCharacter } from "@parley/speech/ports/VoiceCharacter"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { Blobs } from "../storage/Blobs.ts"
import { Database } from "../storage/Database.ts"
import { rowsOf } from "../storage/rows.ts"
import { listOwnVoices, listVoiceModels, type OwnVoice, type OwnVoicesQuery } from "./VoiceModelLists.ts"
import {
  showVoiceModel,
  storedVisibility,
  taskIdOf,
  type VoiceModelRecord,
  voiceModelRecords,
  type VoiceModelRow,
  voiceModelRows
} from "./VoiceModelRow.ts"
import type { KeptSample } from "./VoiceSample.ts"

/** The picture of a model. */
export interface Cover {
  /** Name of a blob. */
  readonly blob: string
  readonly type: string
}

/** A model whose recordings were examined and are blobs already. */
export interface NewVoiceModel {
  readonly title: string
  readonly description: string
  readonly visibility: Visibility
  readonly tags: ReadonlyArray<string>
  readonly languages: ReadonlyArray<string>
  readonly source: string | null
  readonly cover: Cover | undefined
  readonly defaultText: string
  readonly profile: VoiceCharacter["profile"]
  readonly quality: VoiceModelRow["quality"]
  readonly references: ReadonlyArray<{ readonly blob: string; readonly text: string }>
  readonly samples: ReadonlyArray<KeptSample>
}

/** What is undefined stays. */
export interface VoiceModelChange {
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly visibility?: Visibility | undefined
  readonly tags?: ReadonlyArray<string> | undefined
  /** Null removes it. */
  readonly cover?: Cover | null | undefined
}

/** Voice models of the installation. */
export class VoiceModels extends Context.Service<
  VoiceModels,
  {
    /** A model the workspace may speak with; undefined when there is none, or it may not. */
    readonly find: (workspace: string, id: string) => Effect.Effect<VoiceModelRecord | undefined>
    readonly character: (record: VoiceModelRecord) => VoiceCharacter
    /** Something was spoken with it. */
    readonly used: (id: string) => Effect.Effect<void>
    readonly insert: (workspace: string, model: NewVoiceModel) => Effect.Effect<VoiceModel>
    /** The workspace's own, and public ones of others, of which there are none. */
    readonly list: (workspace: string, query: VoiceModelQuery) => Effect.Effect<VoiceModelPage, BadRequest>
    readonly get: (workspace: string, id: string) => Effect.Effect<VoiceModel, NotFound | Forbidden>
    readonly cover: (
      workspace: string,
      id: string
    ) => Effect.Effect<{ readonly path: string; readonly type: string }, NotFound | Forbidden>
    /** Path of an MP3. */
    readonly sample: (workspace: string, id: string, taskId: string) => Effect.Effect<string, NotFound | Forbidden>
    readonly update: (
      workspace: string,
      id: string,
      change: VoiceModelChange
    ) => Effect.Effect<VoiceModel, NotFound | Forbidden>
    readonly remove: (workspace: string, id: string) => Effect.Effect<void, NotFound | Forbidden>
    /** Newest first; `total` counts all that match. */
    readonly ownPage: (
      workspace: string,
      query: OwnVoicesQuery
    ) => Effect.Effect<{ readonly voices: ReadonlyArray<OwnVoice>; readonly total: number }>
  }
>()("@parley/workspace/VoiceModels") {
  static readonly layer: Layer.Layer<VoiceModels, never, Blobs | Database | SqlClient.SqlClient> = Layer.effect(
    VoiceModels,
    Effect.gen(function* () {
      const { alone } = yield* Database
      const sql = yield* SqlClient.SqlClient
      const blobs = yield* Blobs

      const rowOf = Effect.fnUntraced(function* (id: string) {
        const rows = yield* voiceModelRows(sql`SELECT m.*, w.name AS workspace_name
          FROM voice_models m JOIN workspaces w ON w.id = m.workspace_id WHERE m.id = ${id}`).pipe(Effect.orDie)
        return rows[0] ?? (yield* notFound("Voice model"))
      })

      const readable = Effect.fnUntraced(function* (workspace: string, id: string) {
        const row = yield* rowOf(id)
        return row.workspace_id === workspace || row.visibility !== "private" ? row : yield* forbidden()
      })

      const owned = Effect.fnUntraced(function* (workspace: string, id: string) {
        const row = yield* rowOf(id)
        return row.workspace_id === workspace ? row : yield* forbidden()
      })

      // Only where the database lies in the same folder: another database may not be the one that knows these blobs.
      if (alone) yield* sweepBlobs(sql, blobs)

      return {
        find: Effect.fnUntraced(function* (workspace, id) {
          const [record] = yield* voiceModelRecords(sql`SELECT m.id, m.profile,
              (SELECT coalesce(jsonb_agg(jsonb_build_object('blob', r.blob, 'text', r.text) ORDER BY r.position), '[]')
                FROM voice_references r WHERE r.model_id = m.id) AS voice_references
            FROM voice_models m
            WHERE m.id = ${storable(id)} AND (m.workspace_id = ${workspace} OR m.visibility <> 'private')`)
          return record
        }, Effect.orDie),

        character: (record) => ({
          id: record.id,
          references: record.voice_references.map(({ blob, text }) => ({ file: blobs.path(blob), text })),
          profile: record.profile ?? undefined
        }),

        used: (id) =>
          sql`UPDATE voice_models SET task_count = task_count + 1 WHERE id = ${storable(id)}`.pipe(
            Effect.orDie,
            Effect.asVoid
          ),

        insert: Effect.fn("VoiceModels.insert")(function* (workspace, model) {
          return showVoiceModel(yield* rowOf(yield* insertModel(sql, workspace, model)))
        }, Effect.orDie),

        list: (workspace, query) => listVoiceModels(sql, workspace, query),

        get: Effect.fn("VoiceModels.get")(function* (workspace, id) {
          return showVoiceModel(yield* readable(workspace, id))
        }),

        cover: Effect.fn("VoiceModels.cover")(function* (workspace, id) {
          const { cover, cover_type } = yield* readable(workspace, id)
          return cover === null || cover_type === null
            ? yield* notFound("Cover image")
            : { path: blobs.path(cover), type: cover_type }
        }),

        sample: Effect.fn("VoiceModels.sample")(function* (workspace, id, taskId) {
          const { samples } = yield* readable(workspace, id)
          const sample = samples.find(({ blob }) => taskIdOf(blob) === taskId)
          return sample === undefined ? yield* notFound("Sample") : blobs.path(sample.blob)
        }),

        update: Effect.fn("VoiceModels.update")(function* (workspace, id, change) {
          const before = yield* owned(workspace, id)
          yield* changeModel(sql, id, change)
          if (change.cover !== undefined && before.cover !== null) yield* blobs.remove([before.cover])
          return showVoiceModel(yield* rowOf(id))
        }),

        remove: Effect.fn("VoiceModels.remove")(function* (workspace, id) {
          const row = yield* owned(workspace, id)
          const references = yield* blobRows(sql`SELECT blob FROM voice_references WHERE model_id = ${id}`).pipe(
            Effect.orDie
          )
          yield* sql`DELETE FROM voice_models WHERE id = ${id}`.pipe(
            Effect.orDie,
            Effect.andThen(
              blobs.remove([
                ...[...references, ...row.samples].map(({ blob }) => blob),
                ...(row.cover ? [row.cover] : [])
              ])
            ),
            Effect.uninterruptible
          )
        }),

        ownPage: (workspace, query) => listOwnVoices(sql, workspace, query)
      }
    })
  )
}

const blobRows = rowsOf("voice_references", Schema.Struct({ blob: Schema.String }))

/** Blobs that no model refers to: what a crash left behind. */
const sweepBlobs = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, blobs: Blobs["Service"]) {
  const kept = yield* blobRows(sql`SELECT blob FROM voice_references
    UNION ALL SELECT cover FROM voice_models WHERE cover IS NOT NULL
    UNION ALL SELECT sample ->> 'blob' FROM voice_models, jsonb_array_elements(samples) AS sample`).pipe(Effect.orDie)
  const names = new Set(kept.map(({ blob }) => blob))
  for (const area of ["voices", "covers", "samples"] as const) yield* blobs.sweep(area, names)
})

const insertModel = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, workspace: string, model: NewVoiceModel) {
  const id = newModelId()
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`INSERT INTO voice_models (id, workspace_id, title, description, visibility, tags, languages,
            source, cover, cover_type, default_text, profile, quality, samples)
          VALUES (${id}, ${workspace}, ${model.title}, ${model.description},
            ${storedVisibility(model.visibility)}, ${JSON.stringify(model.tags)}::jsonb,
            ${JSON.stringify(model.languages)}::jsonb, ${model.source}, ${model.cover?.blob ?? null},
            ${model.cover?.type ?? null}, ${model.defaultText}, ${JSON.stringify(model.profile ?? null)}::jsonb,
            ${JSON.stringify(model.quality)}::jsonb, ${JSON.stringify(model.samples)}::jsonb)`
      for (const [position, { blob, text }] of model.references.entries()) {
        yield* sql`INSERT INTO voice_references (model_id, position, blob, text)
            VALUES (${id}, ${position}, ${blob}, ${text})`
      }
    })
  )
  return id
})

const changeModel = (sql: SqlClient.SqlClient, id: string, { cover, ...change }: VoiceModelChange) =>
  sql`UPDATE voice_models SET
    title = coalesce(${change.title ?? null}, title),
    description = coalesce(${change.description ?? null}, description),
    visibility = coalesce(${change.visibility === undefined ? null : storedVisibility(change.visibility)},
      visibility),
    tags = coalesce(${change.tags === undefined ? null : JSON.stringify(change.tags)}::jsonb, tags),
    cover = CASE WHEN ${cover !== undefined}::boolean THEN ${cover?.blob ?? null}::text ELSE cover END,
    cover_type =
      CASE WHEN ${cover !== undefined}::boolean THEN ${cover?.type ?? null}::text ELSE cover_type END,
    updated_at = now()
  WHERE id = ${id}`.pipe(Effect.orDie)

/** 32 hex digits: the form that existing clients know of such ids. */
const newModelId = (): string => randomBytes(16).toString("hex")

const forbidden = () => new Forbidden({ message: "This voice model is private" })

/** Ids come from request bodies, too. */
const storable = (id: string): string => (/^[0-9a-f]{32}$/.test(id) ? id : "")
