// What is asked of the customer while a call rings: one signed POST whose answer fills placeholders. It can make a call
// personal, never stop one: silence ends the asking, a broken connection or an answer that is no success is asked once
// more, anything else counts as no variables.
import type { StoredWebhooks } from "@parley/contract/AgentConfig/Webhooks"
import { isE164 } from "@parley/contract/PhoneNumber"
import { type DynamicVariables, readVariables } from "@parley/contract/SessionRequest"
import { Clock, Effect } from "effect"
import { newId } from "../storage/Id.ts"
import { OutboundError } from "../outbound/OutboundError.ts"
import type { SafeHttp } from "../outbound/SafeHttp.ts"
import { secretOwner } from "../storage/SecretOwner.ts"
import type { Secrets } from "../storage/Secrets.ts"
import { headersOf, type WebhookSender } from "./webhookHeaders.ts"

/** What the customer is told of a call that rings. */
export interface RingingCall {
  /** As the carrier says it. */
  readonly callerNumber: string
  readonly dialedNumber: string
  readonly agentId: string
  readonly phoneNumberId: string
  /** Empty for a number that is not of the inventory. */
  readonly carrierCallId: string
}

/** What asking needs. */
export interface InitParts extends WebhookSender {
  readonly http: Pick<SafeHttp["Service"], "request">
  readonly secrets: Pick<Secrets["Service"], "of">
}

const answerBytes = 256 * 1024

/** At most twice the endpoint's time-out. */
export const askBeforeCall = Effect.fnUntraced(function* (
  endpoint: NonNullable<StoredWebhooks["conversation_init"]>,
  call: RingingCall,
  { http, secrets, ...sender }: InitParts
) {
  const body = bodyOf(call)
  const ask = Effect.gen(function* () {
    const delivery = { id: newId("delivery"), secret: endpoint.secret, body }
    const answer = yield* http.request({
      method: "POST",
      url: endpoint.url,
      headers: headersOf(delivery, sender, secrets.of(secretOwner.agent(call.agentId)), yield* Clock.currentTimeMillis),
      body,
      timeoutMs: Math.round(endpoint.timeout_seconds * 1000),
      maxBytes: answerBytes
    })
    if (answer.status >= 200 && answer.status < 300) return variablesIn(answer.body)
    return yield* new OutboundError({ reason: "BrokenOff", message: "no success" })
  })
  const none: DynamicVariables = {}
  return yield* ask.pipe(
    Effect.retry({ times: 1, while: ({ isRetryable, reason }) => isRetryable && reason !== "Timeout" }),
    Effect.orElseSucceed(() => none)
  )
})

const bodyOf = (call: RingingCall): string =>
  JSON.stringify({
    type: "call.inbound",
    event: "call.inbound",
    call: {
      caller_number: isE164(call.callerNumber) ? call.callerNumber : "",
      dialed_number: call.dialedNumber,
      agent_id: call.agentId,
      phone_number_id: call.phoneNumberId,
      carrier_call_sid: call.carrierCallId
    }
  })

const variablesIn = (body: Uint8Array): DynamicVariables => {
  try {
    const answer: unknown = JSON.parse(new TextDecoder().decode(body))
    const given = isObject(answer) ? answer["dynamic_variables"] : undefined
    return isObject(given) ? readVariables(given) : {}
  } catch {
    return {}
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
