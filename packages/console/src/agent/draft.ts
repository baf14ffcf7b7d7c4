// The draft as it is edited: the sections the editor knows, where an endpoint may carry a new secret.
import type { ReturnedConfig } from "@parley/contract/AgentConfig/AgentConfig"

export interface EditedEndpoint {
  readonly url: string
  readonly has_secret: boolean
  /** Typed now; undefined keeps the stored one. */
  readonly secret?: string
}

export type Draft = Pick<
  ReturnedConfig,
  "prompt" | "voice" | "conversation" | "tools" | "knowledge_base" | "analysis"
> & {
  readonly webhooks: Omit<ReturnedConfig["webhooks"], "post_call"> & {
    readonly post_call: ReadonlyArray<EditedEndpoint>
  }
  readonly guardrails: ReturnedConfig["guardrails"]
}

export interface DraftProps {
  readonly draft: Draft
  readonly change: (part: Partial<Draft>) => void
}

export const draftOf = (config: ReturnedConfig): Draft => ({
  prompt: config.prompt,
  voice: config.voice,
  conversation: config.conversation,
  tools: config.tools,
  knowledge_base: config.knowledge_base,
  analysis: config.analysis,
  webhooks: config.webhooks,
  guardrails: config.guardrails
})
