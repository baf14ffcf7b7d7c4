// The log of webhooks: what was sent for a session, and sending one again.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { NotFound } from "../Errors.ts"
import { Id } from "../Field.ts"
import { WebhookDelivery } from "../WebhookDelivery.ts"
import { Authorization } from "./Authorization.ts"
import { Validation } from "./Validation.ts"

/** Endpoints of webhook deliveries. */
export class WebhooksApi extends HttpApiGroup.make("webhooks")
  .add(
    HttpApiEndpoint.get("listWebhookDeliveries", "/v1/agent/sessions/:session_id/webhook-deliveries", {
      params: { session_id: Id },
      success: Schema.Struct({ webhook_deliveries: Schema.Array(WebhookDelivery) }),
      error: NotFound
    }),
    HttpApiEndpoint.post("resendWebhookDelivery", "/v1/agent/webhook-deliveries/:delivery_id/resend", {
      params: { delivery_id: Id },
      success: HttpApiSchema.NoContent,
      error: NotFound
    })
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Webhooks" })) {}
