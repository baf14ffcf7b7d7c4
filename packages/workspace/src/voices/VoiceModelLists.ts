// Lists of voice models: the library as a workspace sees it, and its own models in few words.
import { BadRequest } from "@parley/contract/Errors"
import { maxOffset } from "@parley/contract/Page"
import type { VoiceModelPage, VoiceModelQuery } from "@parley/contract/VoiceModel"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { likePattern } from "../storage/Paging.ts"
import { countOf, rowsOf } from "../storage/rows.ts"
import { showVoiceModel, voiceModelRows } from "./VoiceModelRow.ts"

/** The workspace's own, and public ones of others. */
export const listVoiceModels = Effect.fn("VoiceModels.list")(function* (
  sql: SqlClient.SqlClient,
  workspace: string,
  query: VoiceModelQuery
): Effect.fn.Return<VoiceModelPage, BadRequest> {
  const size = query.page_size ?? 10
  const offset = ((query.page_number ?? 1) - 1) * size
  if (offset > maxOffset) return yield* new BadRequest({ message: "page_number is too deep" })
  const filter = sql.and(conditionsOf(sql, workspace, query))
  const order = query.sort_by === "task_count" ? sql`m.task_count DESC, m.seq DESC` : sql`m.seq DESC`
  const rows = yield* voiceModelRows(sql`SELECT m.*, w.name AS workspace_name
    FROM voice_models m JOIN workspaces w ON w.id = m.workspace_id
    WHERE ${filter} ORDER BY ${order} LIMIT ${size} OFFSET ${offset}`).pipe(Effect.orDie)
  const total = yield* countOf(sql`SELECT count(*)::int AS n FROM voice_models m WHERE ${filter}`).pipe(Effect.orDie)
  return {
    total,
    items: rows.map(showVoiceModel),
    has_more: offset + rows.length < total,
    window_limited: false,
    total_is_exact: true
  }
})

/** A page of a workspace's own models, for APIs that list them in other words. */
export interface OwnVoicesQuery {
  /** From 1. */
  readonly page: number
  readonly size: number
  /** Part of the title, in any case. */
  readonly search?: string | undefined
  /** Only this one. */
  readonly id?: string | undefined
}

/** A model as such an API shows it. */
export type OwnVoice = typeof OwnVoice.Type

/** Newest first; `total` counts all that match. */
export const listOwnVoices = Effect.fnUntraced(function* (
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

const OwnVoice = Schema.Struct({
  id: Schema.String,
  title: Schema.String,
  description: Schema.String,
  tags: Schema.Array(Schema.String),
  languages: Schema.Array(Schema.String),
  createdAt: Schema.Date
})
const ownVoices = rowsOf("voice_models", OwnVoice)

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

const isTrue = (flag: string | undefined): boolean => flag?.toLowerCase() === "true" || flag === "1"

/** An array literal, every element quoted. */
const textArray = (values: ReadonlyArray<string>): string =>
  `{${values.map((value) => `"${value.replace(/[\\"]/g, "\\$&")}"`).join(",")}}`
