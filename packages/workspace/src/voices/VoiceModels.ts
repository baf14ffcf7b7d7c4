// Voice models: kept, listed, used, changed, removed. A model is its workspace's own; one that is
// `unlist` may be read and spoken with by any workspace that knows its id, and is in nobody else's list. Removing one
// removes its recordings; what a crash leaves behind goes at the next start.
import { BadRequest, Forbidden, type NotFound, notFound } from "@parley/contract/Errors"
import { maxOffset } from "@parley/contract/Page"
import type { Visibility, VoiceModel, VoiceModelPage, VoiceModelQuery } from "@parley/contract/VoiceModel"
import type { VoiceCharacter } from "@parley/speech/ports/VoiceCharacter"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { Blobs } from "../storage/Blobs.ts"
import { likePattern } from "../storage/Paging.ts"
import { Database } from "../storage/Database.ts"
import { countOf, rowsOf } from "../storage/rows.ts"
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

export interface VoiceModelChange {
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly visibility?: Visibility | undefined
  readonly tags?: ReadonlyArray<string> | undefined
  /** Null removes it. */
  readonly cover?: Cover | null | undefined
}

/** A page of a workspace's own models, for doors that list them in other words. */
export interface OwnVoicesQuery {
  /** From 1. */
  readonly page: number
  readonly size: number
  /** Part of the title, in any case. */
  readonly search?: string | undefined
  /** Only this one. */
  readonly id?: string | undefined
}

/** A model as such a door shows it. */
export type OwnVoice = typeof OwnVoice.Type

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

        list: Effect.fn("VoiceModels.list")(function* (workspace, query) {
          const size = query.page_size ?? 10
          const offset = ((query.page_number ?? 1) - 1) * size
          if (offset > maxOffset) return yield* new BadRequest({ message: "page_number is too deep" })
          const filter = sql.and(conditionsOf(sql, workspace, query))
          const order = query.sort_by === "task_count" ? sql`m.task_count DESC, m.seq DESC` : sql`m.seq DESC`
          const rows = yield* voiceModelRows(sql`SELECT m.*, w.name AS workspace_name
            FROM voice_models m JOIN workspaces w ON w.id = m.workspace_id
            WHERE ${filter} ORDER BY ${order} LIMIT ${size} OFFSET ${offset}`).pipe(Effect.orDie)
          const total = yield* countOf(sql`SELECT count(*)::int AS n FROM voice_models m WHERE ${filter}`).pipe(
            Effect.orDie
          )
          return {
            total,
            items: rows.map(showVoiceModel),
            has_more: offset + rows.length < total,
            window_limited: false,
            total_is_exact: true
          }
        }),

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
          const { cover } = change
          yield* sql`UPDATE voice_models SET
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
          if (cover !== undefined && before.cover !== null) yield* blobs.remove([before.cover])
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

        ownPage: (workspace, query) => ownPage(sql, workspace, query)
      }
    })
  )
}

const OwnVoice = Schema.Struct({
  id: Schema.String,
  title: Schema.String,
  description: Schema.String,
  tags: Schema.Array(Schema.String),
  languages: Schema.Array(Schema.String),
  createdAt: Schema.Date
})
const ownVoices = rowsOf("voice_models", OwnVoice)
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

const ownPage = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  workspace: string,
  { id, page, search, size }: OwnVoicesQuery
) {
  const filter = sql.and([
    sql`workspace_id = ${workspace}`,
    ...(id === undefined ? [] : [sql`id = ${id}`]),
    ...(search ? [sql`title ILIKE ${likePattern(search)}`] : [])
  ])
  const rows =
    yield* ownVoices(sql`SELECT id, title, description, tags, languages, created_at AS "createdAt" FROM voice_models WHERE ${filter}
    ORDER BY seq DESC LIMIT ${size} OFFSET ${(page - 1) * size}`)
  const total = yield* countOf(sql`SELECT count(*)::int AS n FROM voice_models WHERE ${filter}`)
  return { voices: rows, total }
}, Effect.orDie)

const conditionsOf = (sql: SqlClient.SqlClient, workspace: string, query: VoiceModelQuery) => {
  const conditions = [
    isTrue(query.self)
      ? sql`m.workspace_id = ${workspace}`
      : sql`(m.workspace_id = ${workspace} OR m.visibility = 'public')`
  ]
  if (query.author_id !== undefined && !isTrue(query.self)) {
    conditions.push(sql`m.workspace_id = ${query.author_id}`)
  }
  if (query.title) conditions.push(sql`m.title ILIKE ${likePattern(query.title)}`)
  if (query.tag?.length) conditions.push(sql`m.tags ?| ${textArray(query.tag)}::text[]`)
  if (query.language?.length) conditions.push(sql`m.languages ?| ${textArray(query.language)}::text[]`)
  if (isTrue(query.licensed)) conditions.push(sql`false`)
  return conditions
}

/** 32 hex digits: the form that existing clients know of such ids. */
const newModelId = (): string => randomBytes(16).toString("hex")

const forbidden = () => new Forbidden({ message: "This voice model is private" })

const isTrue = (flag: string | undefined): boolean => flag?.toLowerCase() === "true" || flag === "1"

/** Ids come from request bodies, too. */
const storable = (id: string): string => (/^[0-9a-f]{32}$/.test(id) ? id : "")

/** An array literal, every element quoted. */
const textArray = (values: ReadonlyArray<string>): string =>
  `{${values.map((value) => `"${value.replace(/[\\"]/g, "\\$&")}"`).join(",")}}`
