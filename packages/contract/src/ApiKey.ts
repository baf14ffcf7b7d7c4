// API keys of a workspace: what one may do, until when, and what may be shown of it. The secret itself is in one answer only,
// the one that makes it.
import { Schema } from "effect"
import { defaulted, listOf, moment, text, wholeBetween } from "./Field.ts"
import { pageFields } from "./Page.ts"

/**
 * What a key may do. `read`: every GET; `manage`: what is set up (agents, tools, numbers, keys); `speak`: synthesis,
 * recognition and voice design, on the compatible APIs too; `call`: sessions and telephone calls.
 */
export const keyScopes = ["read", "manage", "speak", "call"] as const
/** One of them. */
export const KeyScope = Schema.Literals(keyScopes)
export type KeyScope = typeof KeyScope.Type

/** Longest time that a key goes on after its rotation, in seconds: seven days. */
const longestOverlap = 7 * 86_400

const label = text(100)
const scopes = listOf(KeyScope, keyScopes.length).check(
  Schema.isMinLength(1, { message: "must have at least one entry" }),
  Schema.isUnique({ message: "must not repeat an entry" })
)

/** A key as it is asked for. `expires_at` null: for good. */
export const ApiKeyCreate = Schema.Struct({
  label: defaulted(label, ""),
  scopes: defaulted(scopes, keyScopes),
  expires_at: defaulted(Schema.NullOr(moment), null)
})
export type ApiKeyCreate = typeof ApiKeyCreate.Type

/** What is omitted stays. */
export const ApiKeyPatch = Schema.Struct({
  label: Schema.optionalKey(label),
  expires_at: Schema.optionalKey(Schema.NullOr(moment))
})
export type ApiKeyPatch = typeof ApiKeyPatch.Type

/** How long the former secret goes on. */
export const ApiKeyRotate = Schema.Struct({ overlap_seconds: defaulted(wholeBetween(0, longestOverlap), 0) })
export type ApiKeyRotate = typeof ApiKeyRotate.Type

/** A key as it is returned. */
export const ApiKey = Schema.Struct({
  key_id: Schema.String,
  label: Schema.String,
  /** Its first and last characters. */
  hint: Schema.String,
  scopes: Schema.Array(KeyScope),
  created_at: Schema.String,
  expires_at: Schema.NullOr(Schema.String),
  last_used_at: Schema.NullOr(Schema.String),
  /** Of a key that was rotated: until when it goes on. */
  revoked_at: Schema.NullOr(Schema.String)
})
export type ApiKey = typeof ApiKey.Type

/** A new key with its secret, which is never shown again. */
export const ApiKeyCreated = Schema.Struct({ ...ApiKey.fields, key: Schema.String })
export type ApiKeyCreated = typeof ApiKeyCreated.Type

/** One page, newest first; expired keys are in it, revoked ones are not. */
export const ApiKeyPage = Schema.Struct({ keys: Schema.Array(ApiKey), ...pageFields })
