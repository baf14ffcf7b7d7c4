// Section `webhooks`, in its three shapes: as asked for, as stored (secrets sealed), as returned (secrets gone).
// `has_secret` is taken in a request and ignored, so that a returned section can be sent back.
import { Effect, Schema, SchemaGetter } from "effect"
import { defaulted, listOf, numberBetween, text, textBetween } from "../Field.ts"

const url = textBetween(1, 4000)

/** "" removes the stored secret; null and absent keep it. */
const secret = Schema.optionalKey(Schema.NullOr(text(256)))
const hasSecret = Schema.optionalKey(Schema.Boolean)

const Endpoint = Schema.Struct({ url, secret, has_secret: hasSecret })

const timeout = defaulted(numberBetween(1, 8), 5)

/** A single object counts as a list of one; null as an empty list. */
const PostCall = Schema.Unknown.pipe(
  Schema.decodeTo(listOf(Endpoint, 5), {
    decode: SchemaGetter.transform((input) =>
      // What is no list is judged by the list's own schema, so that faults carry an index.
      input === null ? [] : typeof input === "object" && !Array.isArray(input) ? [input] : input
    ) as SchemaGetter.Getter<ReadonlyArray<typeof Endpoint.Encoded>, unknown>,
    encode: SchemaGetter.passthroughSupertype()
  })
)

/** The section as it is sent; a `secret` of null keeps the stored one. */
export const WebhooksPatch = Schema.Struct({
  conversation_init: defaulted(
    Schema.NullOr(Schema.Struct({ url, secret, has_secret: hasSecret, timeout_seconds: timeout })),
    null
  ),
  post_call: PostCall.pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
})
export type WebhooksPatch = typeof WebhooksPatch.Type

/** Sealed text, or null when there is no secret. */
const sealed = defaulted(Schema.NullOr(Schema.String), null)

/** Section `webhooks` as it is stored, secrets sealed. */
export const StoredWebhooks = Schema.Struct({
  conversation_init: defaulted(Schema.NullOr(Schema.Struct({ url, secret: sealed, timeout_seconds: timeout })), null),
  post_call: defaulted(Schema.Array(Schema.Struct({ url, secret: sealed })), [])
})
export type StoredWebhooks = typeof StoredWebhooks.Type

/** The section as it is returned, without secrets. */
export const ReturnedWebhooks = Schema.Struct({
  conversation_init: Schema.NullOr(
    Schema.Struct({ url: Schema.String, has_secret: Schema.Boolean, timeout_seconds: Schema.Number })
  ),
  post_call: Schema.Array(Schema.Struct({ url: Schema.String, has_secret: Schema.Boolean }))
})
