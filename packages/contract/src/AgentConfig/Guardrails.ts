// Section `guardrails`: standing rules added to the agent's instructions.
import { Schema } from "effect"
import { defaulted } from "../Field.ts"

/** Section `guardrails`. */
export const Guardrails = Schema.Struct({
  focus: defaulted(Schema.Boolean, false),
  manipulation: defaulted(Schema.Boolean, false)
})
export type Guardrails = typeof Guardrails.Type
