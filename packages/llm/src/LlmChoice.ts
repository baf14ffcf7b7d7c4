// Which model answers a call: the server's own list, or an endpoint of the agent's.
import type { Redacted } from "effect"

/** Part of a call's plan; only the key is not serialisable. */
export type LlmChoice =
  /** `model` empty for the server's default. */
  | { readonly kind: "default"; readonly model: string }
  | {
      readonly kind: "custom"
      readonly baseUrl: string
      readonly model: string
      readonly apiKey: Redacted.Redacted<string>
    }
