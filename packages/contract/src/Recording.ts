// What was recorded of a session: one track for each side, all beginning at the start of the call.
import { Schema } from "effect"

/** Whose voice; `human` is whom the call was handed to. */
export const TrackRole = Schema.Literals(["agent", "user", "human"])
export type TrackRole = typeof TrackRole.Type

/** `active` while it is recorded. */
export const TrackStatus = Schema.Literals(["requested", "active", "complete", "failed"])
export type TrackStatus = typeof TrackStatus.Type

/** `recorder_overloaded`: it could not keep up; `storage_failed`: the disk refused; `no_sound`: nothing was kept. */
export const RecordingErrorCode = Schema.Literals([
  "recorder_overloaded",
  "recorder_lost",
  "storage_failed",
  "encoder_failed",
  "no_sound"
])
export type RecordingErrorCode = typeof RecordingErrorCode.Type

/** One side of a recorded call; times in ISO 8601, duration in milliseconds. */
export const RecordingTrack = Schema.Struct({
  role: TrackRole,
  status: TrackStatus,
  /** Ogg Opus, for anyone who has the address, until `expires_at`. A failed track has one when some of it was kept. */
  url: Schema.NullOr(Schema.String),
  expires_at: Schema.NullOr(Schema.String),
  duration_ms: Schema.NullOr(Schema.Int),
  started_at: Schema.NullOr(Schema.String),
  ended_at: Schema.NullOr(Schema.String),
  error: Schema.NullOr(Schema.String),
  error_code: Schema.NullOr(RecordingErrorCode)
})
export type RecordingTrack = typeof RecordingTrack.Type

/** `error` and `error_message` say the same. */
export const SessionRecording = Schema.Struct({
  session_id: Schema.String,
  status: Schema.Literals(["processing", "complete", "failed"]),
  tracks: Schema.Array(RecordingTrack),
  error: Schema.NullOr(Schema.String),
  error_code: Schema.NullOr(RecordingErrorCode),
  error_message: Schema.NullOr(Schema.String)
})
export type SessionRecording = typeof SessionRecording.Type
