// A webhook tool's request with its placeholders: what a call needs to make it, fixed before the call starts.
import type { Redacted } from "effect"
import type { SystemName } from "./SystemVariables.ts"

/** A webhook tool's request before its arguments are known. */
export interface WebhookTemplate {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly url: string
  readonly contentType: string
  readonly body: string
  /** Whole values, `Bearer ` and the like included. */
  readonly headers: ReadonlyArray<{ readonly name: string; readonly value: Redacted.Redacted<string> }>
  /** What `{{system.*}}` stands for; what is missing stays as it is written. */
  readonly system: { readonly [name in SystemName]?: string }
}
