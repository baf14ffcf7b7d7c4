// POST /v1/voice-design: a description in, candidate voices out. Unknown fields are refused.
import { Schema } from "effect"
import { defaulted, numberBetween, text, textBetween, wholeBetween } from "../Field.ts"

/** The only model. */
export const voiceDesignModel = "voice-design-1"

/** The body: a description of the voice. */
export const VoiceDesign = Schema.Struct({
  instruction: textBetween(1, 2000),
  /** What the candidates say; a sentence of the service's own when absent. */
  reference_text: Schema.optionalKey(Schema.NullOr(text(150))),
  language: Schema.optionalKey(Schema.NullOr(text(16))),
  n: defaulted(wholeBetween(1, 4), 2),
  speed: defaulted(numberBetween(0, 3).check(Schema.isGreaterThan(0, { message: "must be greater than 0" })), 1),
  num_step: defaulted(wholeBetween(1, 128), 32),
  guidance_scale: defaulted(
    Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0, { message: "must be at least 0" })),
    2
  ),
  instruct_guidance_scale: defaulted(
    Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0, { message: "must be at least 0" })),
    0
  ),
  seed: Schema.optionalKey(Schema.NullOr(Schema.Int))
})
export type VoiceDesign = typeof VoiceDesign.Type

/** What was understood of the description. */
export const VoiceFeatures = Schema.Struct({
  gender: Schema.String,
  age: Schema.String,
  tone: Schema.String,
  accent: Schema.String,
  pacing: Schema.String
})
export type VoiceFeatures = typeof VoiceFeatures.Type

/** A voice to choose: a clip and its signature. */
export const VoiceCandidate = Schema.Struct({
  id: Schema.String,
  index: Schema.Int,
  /** A WAV file. */
  audio_base64: Schema.String,
  sample_rate: Schema.Int,
  duration_ms: Schema.Int,
  text: Schema.String,
  instruct: Schema.String,
  language: Schema.String,
  /** For `voice_design_signatures` of POST /model: bound to the bytes of the clip, valid for a day. */
  signature: Schema.String,
  features: VoiceFeatures
})
export type VoiceCandidate = typeof VoiceCandidate.Type

/** The answer. */
export const VoiceCandidates = Schema.Struct({ candidates: Schema.Array(VoiceCandidate) })
