// The test request of a webhook tool: a real one, bounded like in a call, with up to 64 KB of the
// answer. The address is sent as it was saved; system variables are those given in the arguments, empty otherwise.
import type { StoredTool, ToolTestResult } from "@parley/contract/Tool"
import { systemNames } from "@parley/contract/SystemVariables"
import { Clock, Effect, type Redacted } from "effect"
import type { SafeHttp } from "../outbound/SafeHttp.ts"
import { templateOf } from "./ToolRow.ts"
import { fillTemplate, type ToolArguments } from "./ToolTemplate.ts"

const captureBytes = 64 * 1024

/** Sends the request now; whatever comes of it is the result. */
export const tryTool = Effect.fnUntraced(function* (
  http: SafeHttp["Service"],
  tool: StoredTool,
  open: (sealed: string) => Redacted.Redacted<string>,
  { system, ...args }: ToolArguments
) {
  const template = templateOf(tool, open, systemOf(system))
  // The address takes no part in filling, so nothing can be wrong with it.
  const filled = fillTemplate({ ...template, url: "" }, args)
  const startedAt = yield* Clock.currentTimeMillis
  const outcome = yield* Effect.result(
    http.request({
      method: tool.method,
      headers: filled?.headers ?? [],
      body: filled?.body,
      url: tool.url,
      timeoutMs: tool.timeout_seconds * 1000,
      maxBytes: captureBytes
    })
  )
  const latency = Math.round((yield* Clock.currentTimeMillis) - startedAt)
  const result: ToolTestResult =
    outcome._tag === "Failure"
      ? {
          status_code: null,
          latency_ms: latency,
          headers: {},
          body: "",
          response_truncated: false,
          error: outcome.failure.message
        }
      : {
          status_code: outcome.success.status,
          latency_ms: latency,
          headers: outcome.success.headers,
          body: new TextDecoder().decode(outcome.success.body),
          response_truncated: outcome.success.truncated,
          error: null
        }
  return result
})

const systemOf = (given: unknown): Readonly<Record<string, string>> => {
  const values: ReadonlyMap<string, unknown> = new Map(
    typeof given === "object" && given !== null ? Object.entries(given) : []
  )
  return Object.fromEntries(
    systemNames.map((name) => {
      const value = values.get(name)
      return [name, typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value)]
    })
  )
}
