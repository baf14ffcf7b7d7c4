// What was drawn from a call when it was over.
import { Schema } from "effect"

/** A value that was drawn from the call, and why. */
export const AnalysedField = Schema.Struct({
  name: Schema.String,
  type: Schema.Literals(["text", "boolean", "number", "enum"]),
  /** Null where the conversation does not tell. */
  value: Schema.NullOr(Schema.Union([Schema.String, Schema.Finite, Schema.Boolean])),
  rationale: Schema.String
})
export type AnalysedField = typeof AnalysedField.Type

/** What a criterion came to, and why. */
export const JudgedCriterion = Schema.Struct({
  name: Schema.String,
  result: Schema.Literals(["success", "failure", "unknown"]),
  rationale: Schema.String
})
export type JudgedCriterion = typeof JudgedCriterion.Type

/** `skipped`: nobody spoke, or nothing was wanted. */
export const SessionAnalysis = Schema.Struct({
  status: Schema.Literals(["completed", "skipped", "error"]),
  summary: Schema.NullOr(Schema.String),
  data: Schema.Array(AnalysedField),
  criteria_results: Schema.Array(JudgedCriterion),
  finished_at: Schema.String,
  /** Why there is none, when the status is `error`. */
  error: Schema.NullOr(Schema.String)
})
export type SessionAnalysis = typeof SessionAnalysis.Type
