// A webhook tool's request over SafeHttp, and what of the answer a call is told. The answer of an endpoint is data:
// it is passed on as text and never read as anything else. Only the exchange has a span: its failures quote nobody.
import type { WebhookTemplate } from "@parley/contract/WebhookTemplate"
import { Data, Effect } from "effect"
import { OutboundError } from "../outbound/OutboundError.ts"
import type { SafeAnswer } from "../outbound/SafeClient.ts"
import type { SafeHttp } from "../outbound/SafeHttp.ts"
import { fillTemplate, type ToolArguments } from "./ToolTemplate.ts"

/** The history keeps 256 KB of an answer and marks what is longer. */
const answerBytes = 256 * 1024 + 1
const errorChars = 4_096

/** Why a webhook tool has no result. */
class WebhookFailure extends Data.TaggedError("WebhookFailure")<{
  /** For the model and the history; holds no credential and no address. */
  readonly message: string
}> {}

/** The bare exchange. */
const callWebhook = (
  http: SafeHttp["Service"],
  template: WebhookTemplate,
  args: ToolArguments,
  bounds: { readonly timeoutMs: number; readonly maxBytes: number }
): Effect.Effect<SafeAnswer, OutboundError> => {
  const filled = fillTemplate(template, args)
  return filled === undefined
    ? Effect.fail(new OutboundError({ reason: "InvalidRequest", message: "an argument does not fit into the address" }))
    : http.request({ ...filled, method: template.method, ...bounds }).pipe(Effect.withSpan("WebhookCall.exchange"))
}

/** As a call has it: the text of a 2xx answer, a failure for everything else. */
export const askWebhook = Effect.fnUntraced(function* (
  http: SafeHttp["Service"],
  template: WebhookTemplate,
  args: ToolArguments,
  timeoutMs: number
) {
  const answer = yield* callWebhook(http, template, args, { timeoutMs, maxBytes: answerBytes }).pipe(
    Effect.mapError(({ message }) => new WebhookFailure({ message }))
  )
  return yield* answered(answer.status, new TextDecoder().decode(answer.body))
})

/** The text of a 2xx answer; anything else fails with up to 4,096 characters of it. */
export const answered = (status: number, text: string): Effect.Effect<string, WebhookFailure> => {
  if (status >= 200 && status < 300) return Effect.succeed(text)
  const said = text.trim() === "" ? "" : `: ${text.slice(0, errorChars).toWellFormed()}`
  return Effect.fail(new WebhookFailure({ message: `the endpoint answered ${status}${said}` }))
}
