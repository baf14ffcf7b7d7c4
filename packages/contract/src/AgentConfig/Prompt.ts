// Section `prompt`: what the agent is told and how it opens.
import { Schema } from "effect"
import { defaulted, text } from "../Field.ts"

/** Beside the 32,000 tokens that are counted elsewhere. */
export const systemPromptChars = 500_000
/** Tokens (o200k_base) a system prompt may have. */
export const systemPromptTokens = 32_000

/** Who speaks first: a fixed text, the model, or the caller (`off`). */
const FirstMessageMode = Schema.Literals(["off", "fixed", "prompt"])

/** Section `prompt`. */
export const Prompt = Schema.Struct({
  system_prompt: defaulted(text(systemPromptChars), ""),
  first_message_mode: defaulted(FirstMessageMode, "prompt"),
  first_message: defaulted(text(10_000), "Hello! How can I help you today?"),
  first_message_prompt: defaulted(
    text(10_000),
    "Greet the caller in one short, friendly sentence and ask how you can help."
  )
})
export type Prompt = typeof Prompt.Type
