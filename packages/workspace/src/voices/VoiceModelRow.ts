// A voice model as stored, and as shown.
import { ModelQuality, Visibility, type VoiceModel } from "@parley/contract/VoiceModel"
import type { VoiceCharacter } from "@parley/speech/ports/VoiceCharacter"
import { Schema } from "effect"
import { rowsOf, storedJson } from "../storage/rows.ts"
import { KeptSample } from "./VoiceSample.ts"

/** A voice model with the name of its workspace. */
export const VoiceModelRow = Schema.Struct({
  seq: Schema.BigInt,
  id: Schema.String,
  workspace_id: Schema.String,
  workspace_name: Schema.String,
  title: Schema.String,
  description: Schema.String,
  visibility: Visibility,
  tags: Schema.Array(Schema.String),
  languages: Schema.Array(Schema.String),
  source: Schema.NullOr(Schema.String),
  /** Names of blobs. */
  cover: Schema.NullOr(Schema.String),
  cover_type: Schema.NullOr(Schema.String),
  default_text: Schema.String,
  profile: Schema.NullOr(storedJson<VoiceCharacter["profile"]>()),
  quality: ModelQuality.fields.audios,
  samples: Schema.Array(KeptSample),
  task_count: Schema.Int,
  created_at: Schema.Date,
  updated_at: Schema.Date
})
export type VoiceModelRow = typeof VoiceModelRow.Type

/** Rows of `voice_models` with the name of their workspace. */
export const voiceModelRows = rowsOf("voice_models", VoiceModelRow)

const VoiceModelRecord = Schema.Struct({
  id: Schema.String,
  /** How the recordings sound; null for a model of recordings that were not examined. */
  profile: Schema.NullOr(storedJson<VoiceCharacter["profile"]>()),
  /** The recordings in their order, with what is said in them (empty where that is not known). */
  voice_references: Schema.Array(Schema.Struct({ blob: Schema.String, text: Schema.String }))
})
/** A model that a workspace may speak with. */
export type VoiceModelRecord = typeof VoiceModelRecord.Type

/** Rows of `voice_models` with their recordings. */
export const voiceModelRecords = rowsOf("voice_models", VoiceModelRecord)

/** A voice model as the API shows it. */
export const showVoiceModel = (row: VoiceModelRow): VoiceModel => ({
  _id: row.id,
  type: "tts",
  title: row.title,
  description: row.description,
  cover_image: row.cover === null ? "" : `/model/${row.id}/cover`,
  train_mode: "fast",
  state: "trained",
  tags: row.tags,
  samples: row.samples.map(({ blob, text, title }) => ({
    title,
    text,
    task_id: taskIdOf(blob),
    audio: `/model/${row.id}/samples/${taskIdOf(blob)}`
  })),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  languages: row.languages,
  visibility: row.visibility,
  lock_visibility: false,
  dmca_taken_down: false,
  takedown_category: null,
  default_text: row.default_text,
  source: row.source,
  licensed: false,
  pvc_release_state: null,
  pvc_notice_period_months: null,
  pvc_released_at: null,
  pvc_retire_requested_at: null,
  pvc_retire_effective_at: null,
  quality: {
    audios: row.quality,
    created_at: row.created_at.toISOString(),
    updated_at: row.created_at.toISOString()
  },
  like_count: 0,
  mark_count: 0,
  shared_count: 0,
  task_count: row.task_count,
  unliked: false,
  liked: false,
  marked: false,
  author: { _id: row.workspace_id, nickname: row.workspace_name, avatar: "" }
})

/** What a sample is asked for by: the last part of its blob's name. */
export const taskIdOf = (blob: string): string => blob.slice(blob.indexOf("/") + 1)

/** `public` is for a library that people publish to on a page; there is none here. */
export const storedVisibility = (asked: Visibility | undefined): Visibility =>
  asked === "unlist" ? "unlist" : "private"
