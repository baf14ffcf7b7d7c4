// API keys of a workspace: what one may do, and until when.
import { Schema } from "effect"
import { defaulted, listOf, moment, text } from "./Field.ts"

/**
 * What a key may do. `read`: every GET; `manage`: what is set up (agents, tools, numbers, keys); `speak`: synthesis,
 * recognition and voice design, on the compatible APIs too; `call`: sessions and telephone calls.
 */
export const keyScopes = ["read", "manage", "speak", "call"] as const
/** One of them. */
export const KeyScope = Schema.Literals(keyScopes)
export type KeyScope = typeof KeyScope.Type

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
