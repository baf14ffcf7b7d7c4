// Which model a configuration names: the server's own list, or the agent's endpoint with its key opened.
import type { StoredConfig } from "@parley/contract/AgentConfig/AgentConfig"
import type { LlmChoice } from "@parley/llm/LlmChoice"
import type { Redacted } from "effect"

/** `open`: opens the agent's sealed key. */
export const llmChoice = ({ llm }: StoredConfig, open: (sealed: string) => Redacted.Redacted<string>): LlmChoice =>
  llm.custom === null
    ? { kind: "default", model: llm.model ?? "" }
    : { kind: "custom", baseUrl: llm.custom.base_url, model: llm.custom.model, apiKey: open(llm.custom.api_key) }
