// Sends what lies in the outbox, many endpoints at once, each attempt bounded. What a customer's endpoint does never
// stops the others.
import { Clock, Effect, Layer } from "effect"
import * as JobWorker from "../jobs/JobWorker.ts"
import { SafeHttp } from "../outbound/SafeHttp.ts"
import { secretOwner } from "../storage/SecretOwner.ts"
import { Secrets } from "../storage/Secrets.ts"
import { Deliveries } from "./Deliveries.ts"
import { type ClaimedDelivery, Outbox } from "./Outbox.ts"
import { headersOf, type WebhookSender } from "./webhookHeaders.ts"

const attemptMs = 10_000
const atOnce = 32
const lookMs = 500
/** Kept of an answer. */
const responseBytes = 4096

/** The worker. */
export const layer = (sender: WebhookSender): Layer.Layer<never, never, Deliveries | Outbox | SafeHttp | Secrets> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const deliveries = yield* Deliveries
      const { queue } = yield* Outbox
      const http = yield* SafeHttp
      const secrets = yield* Secrets

      const attempt = Effect.fnUntraced(function* (delivery: ClaimedDelivery) {
        const began = yield* Clock.currentTimeMillis
        const answer = yield* http
          .request({
            method: "POST",
            url: delivery.url,
            headers: headersOf(delivery, sender, secrets.of(secretOwner.delivery(delivery.id)), began),
            body: delivery.body,
            timeoutMs: attemptMs,
            maxBytes: responseBytes
          })
          .pipe(Effect.result)
        const sent = { sentAt: new Date(began), latencyMs: (yield* Clock.currentTimeMillis) - began }
        yield* deliveries.settle(
          delivery,
          answer._tag === "Success"
            ? { ...sent, statusCode: answer.success.status, response: textOf(answer.success.body), error: undefined }
            : { ...sent, statusCode: undefined, response: undefined, error: answer.failure.message }
        )
      })

      yield* JobWorker.start({
        queue,
        failed: "A webhook could not be attempted and will be tried again",
        keyOf: ({ id }) => [id],
        run: attempt,
        atOnce,
        lookMs,
        pauseMs: lookMs
      })
    })
  )

const textOf = (body: Uint8Array): string => new TextDecoder().decode(body).replaceAll("\0", "")
