// A voice model as stored, and as shown (decisions 5).
import type { Visibility, VoiceModel } from "@parley/contract/VoiceModel"
import type { VoiceCharacter } from "@parley/speech/ports/VoiceCharacter"
import type { KeptSample } from "./VoiceSample.ts"

export interface VoiceModelRow {
  readonly seq: bigint
  readonly id: string
  readonly workspace_id: string
  readonly workspace_name: string
  readonly title: string
  readonly description: string
  readonly visibility: Visibility
  readonly tags: ReadonlyArray<string>
  readonly languages: ReadonlyArray<string>
  readonly source: string | null
  /** Names of blobs. */
  readonly cover: string | null
  readonly cover_type: string | null
  readonly default_text: string
  readonly profile: VoiceCharacter["profile"] | null
  readonly quality: NonNullable<VoiceModel["quality"]>["audios"]
  readonly samples: ReadonlyArray<KeptSample>
  readonly task_count: number
  readonly created_at: Date
  readonly updated_at: Date
}

/** A model that a workspace may speak with. */
export interface VoiceModelRecord {
  readonly id: string
  readonly profile: VoiceCharacter["profile"] | null
  readonly voice_references: ReadonlyArray<{ readonly blob: string; readonly text: string }>
}

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
