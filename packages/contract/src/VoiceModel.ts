// Voice models. Every field of an answer is always there: official
// clients fail on missing ones. Recordings and cover are not part of these schemas: they come as files of a form,
// as binary, or as base64.
import { Schema } from "effect"
import { listOf, text, textBetween } from "./Field.ts"
import { wholeText } from "./Page.ts"

/** `unlist`: whoever knows the id may use it. */
export const Visibility = Schema.Literals(["public", "unlist", "private"])
export type Visibility = typeof Visibility.Type

/** Something said in the voice. */
export const VoiceSample = Schema.Struct({
  title: Schema.String,
  text: Schema.String,
  task_id: Schema.String,
  audio: Schema.String
})

/** What was measured of the recordings. */
export const ModelQuality = Schema.Struct({
  audios: Schema.Array(
    Schema.Struct({
      filename: Schema.String,
      duration_ms: Schema.Finite,
      /** ISO 639-1, or `unknown`. */
      language: Schema.String,
      /** `voiced_share` and `clipped_share` 0 to 1, `level_dbfs`, `peak_dbfs`. */
      quality: Schema.Record(Schema.String, Schema.Finite),
      quality_passed: Schema.Boolean,
      /** Begins with `adapted` where the serving engine bends a voice of its own instead of cloning. */
      quality_reason: Schema.String
    })
  ),
  created_at: Schema.String,
  updated_at: Schema.String
})
export type ModelQuality = typeof ModelQuality.Type

const noText = Schema.NullOr(Schema.String)

/** A voice model as it is returned. */
export const VoiceModel = Schema.Struct({
  _id: Schema.String,
  type: Schema.Literals(["svc", "tts"]),
  title: Schema.String,
  description: Schema.String,
  /** Path of the image on this service, for callers with a key; empty when there is none. */
  cover_image: Schema.String,
  train_mode: Schema.Literals(["fast", "full"]),
  state: Schema.Literals(["created", "training", "trained", "failed"]),
  tags: Schema.Array(Schema.String),
  samples: Schema.Array(VoiceSample),
  created_at: Schema.String,
  updated_at: Schema.String,
  languages: Schema.Array(Schema.String),
  visibility: Visibility,
  lock_visibility: Schema.Boolean,
  dmca_taken_down: Schema.NullOr(Schema.Boolean),
  takedown_category: Schema.NullOr(Schema.Literals(["dmca", "policy"])),
  default_text: Schema.String,
  /** `voice_design` when every recording is a candidate of /v1/voice-design. */
  source: noText,
  licensed: Schema.Boolean,
  pvc_release_state: Schema.NullOr(Schema.Literals(["released", "retiring"])),
  pvc_notice_period_months: Schema.NullOr(Schema.Int),
  pvc_released_at: noText,
  pvc_retire_requested_at: noText,
  pvc_retire_effective_at: noText,
  quality: Schema.NullOr(ModelQuality),
  like_count: Schema.Int,
  mark_count: Schema.Int,
  shared_count: Schema.Int,
  task_count: Schema.Int,
  unliked: Schema.Boolean,
  liked: Schema.Boolean,
  marked: Schema.Boolean,
  author: Schema.Struct({ _id: Schema.String, nickname: Schema.String, avatar: Schema.String })
})
export type VoiceModel = typeof VoiceModel.Type

/** One page by number. */
export const VoiceModelPage = Schema.Struct({
  total: Schema.Int,
  items: Schema.Array(VoiceModel),
  has_more: Schema.Boolean,
  window_limited: Schema.Boolean,
  total_is_exact: Schema.Boolean
})
export type VoiceModelPage = typeof VoiceModelPage.Type

/** Recordings in one model. */
export const mostVoices = 20

const title = textBetween(1, 256)
const description = Schema.NullOr(text(10_000))
const tags = listOf(textBetween(1, 100), 50)
const oneOrMany = (max: number, most: number) => Schema.NullOr(Schema.Union([text(max), listOf(text(max), most)]))

/** Everything of POST /model that is no file. */
export const VoiceModelCreate = Schema.Struct({
  type: Schema.Literal("tts"),
  title,
  train_mode: Schema.Literal("fast"),
  /** `public` is stored as `private`. */
  visibility: Schema.optionalKey(Visibility),
  description: Schema.optionalKey(description),
  /** What is said in the recordings, in their order; what is missing is recognised. */
  texts: Schema.optionalKey(oneOrMany(10_000, mostVoices)),
  voice_design_signatures: Schema.optionalKey(oneOrMany(1000, mostVoices)),
  /** One text holds several, separated by commas. */
  tags: Schema.optionalKey(Schema.NullOr(Schema.Union([text(5000), tags]))),
  /** Accepted; the embedded engines bring the recordings to one level either way. */
  enhance_audio_quality: Schema.optionalKey(Schema.Boolean),
  /** One short sample, spoken with the new voice; left out when it cannot be made in time. */
  generate_sample: Schema.optionalKey(Schema.Boolean)
})
export type VoiceModelCreate = typeof VoiceModelCreate.Type

/** What is omitted stays. */
export const VoiceModelPatch = Schema.Struct({
  title: Schema.optionalKey(title),
  description: Schema.optionalKey(description),
  visibility: Schema.optionalKey(Visibility),
  tags: Schema.optionalKey(Schema.NullOr(Schema.Union([text(5000), tags])))
})
export type VoiceModelPatch = typeof VoiceModelPatch.Type

/** What one text of several tags becomes is held to the same bounds. */
export const Tags = tags

const many = Schema.optionalKey(Schema.Array(text(256)))

/** Each given field must match. */
export const VoiceModelQuery = Schema.Struct({
  page_size: Schema.optionalKey(
    wholeText.check(Schema.isBetween({ minimum: 1, maximum: 100 }, { message: "must be between 1 and 100" }))
  ),
  page_number: Schema.optionalKey(wholeText.check(Schema.isGreaterThanOrEqualTo(1, { message: "must be at least 1" }))),
  /** Part of the title, in any case. */
  title: Schema.optionalKey(text(256)),
  /** Any of them. */
  tag: many,
  language: many,
  /** Accepted; titles have no known language here. */
  title_language: many,
  /** `true`: the workspace's own only. */
  self: Schema.optionalKey(text(16)),
  /** A workspace; ignored with `self`. */
  author_id: Schema.optionalKey(text(256)),
  /** `score` is newest first, too. */
  sort_by: Schema.optionalKey(Schema.Literals(["score", "task_count", "created_at"])),
  /** `true`: licensed voices only, of which there are none. */
  licensed: Schema.optionalKey(text(16))
})
export type VoiceModelQuery = typeof VoiceModelQuery.Type

/** What PATCH and DELETE answer. */
export const Done = Schema.Struct({ status: Schema.Literal("ok") })
