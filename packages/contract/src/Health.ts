// What /health says: whether calls can be taken, and by whom each part is served.
import { Schema } from "effect"

/** An engine and whether it serves. */
export const Provider = Schema.Struct({
  /** As in the settings: `flite`, `openai`. */
  name: Schema.String,
  /** `up` serves; `standby` takes over when those before it fail; `down` does not answer. */
  state: Schema.Literals(["up", "standby", "down"]),
  /** For people: a model's name, why it is down, or that the engine is only good for a demonstration. */
  note: Schema.optionalKey(Schema.String),
  /** Voice ids an agent may choose, for synthesizers. */
  voices: Schema.optionalKey(Schema.Array(Schema.String))
})
export type Provider = typeof Provider.Type

/** The answer of GET /health. */
export const Health = Schema.Struct({
  status: Schema.Literals(["ok", "degraded", "draining"]),
  version: Schema.String,
  /** In order of preference, by part of the chain: `tts`, `asr`, `vad`, `llm`. */
  serves: Schema.Record(Schema.String, Schema.Array(Provider)),
  calls: Schema.Int
})
export type Health = typeof Health.Type
