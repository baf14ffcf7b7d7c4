// What became of a webhook: the request as it was sent, and each attempt with what the endpoint answered.
import { Schema } from "effect"

/** One request and what was answered. */
const WebhookAttempt = Schema.Struct({
  attempt: Schema.Int,
  sent_at: Schema.String,
  latency_ms: Schema.Int,
  /** Null when nothing answered. */
  status_code: Schema.NullOr(Schema.Int),
  /** The beginning of the answer. */
  response: Schema.NullOr(Schema.String),
  error: Schema.NullOr(Schema.String)
})

/** An event on its way to one endpoint. */
export const WebhookDelivery = Schema.Struct({
  delivery_id: Schema.String,
  event: Schema.String,
  url: Schema.String,
  /** The very bytes of every attempt. */
  request_body: Schema.String,
  status: Schema.Literals(["pending", "delivered", "failed"]),
  created_at: Schema.String,
  finished_at: Schema.NullOr(Schema.String),
  attempts: Schema.Array(WebhookAttempt)
})
export type WebhookDelivery = typeof WebhookDelivery.Type
