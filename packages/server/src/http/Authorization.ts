// Bearer authentication against the stored keys, for the scope of each operation; changes are written to the audit log. A missing and a bad key are the same 401, but
// where visitors may come: they get in without a key, and their bodies are small. No body is read before the key, or before the limits of visitors.
import { Unauthorized } from "@parley/contract/Errors"
import { Authorization, Caller, Visitor, VisitorAuthorization } from "@parley/contract/MainApi/Authorization"
import { AuditLog } from "@parley/workspace/identity/AuditLog"
import { PublicAccess } from "@parley/app/publicAccess/PublicAccess"
import { ByteSize, Effect, Layer, Redacted } from "effect"
import { HttpIncomingMessage } from "effect/http"
import { Settings } from "../Settings.ts"
import { audited } from "./auditing.ts"
import { clientAddress } from "./clientAddress.ts"
import { KeyCheck } from "./KeyCheck.ts"
import { operationScope } from "./operationScope.ts"

/** Largest body of a visitor. */
const visitorBytes = ByteSize.kibibytes(128)

export const layer: Layer.Layer<Authorization, never, AuditLog | KeyCheck> = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const keys = yield* KeyCheck
    const log = yield* AuditLog
    return Authorization.of({
      bearer: Effect.fnUntraced(function* (route, { credential, endpoint, group }) {
        const given = Redacted.value(credential) !== ""
        const principal = given ? yield* keys.authenticate(credential, operationScope(group, endpoint)) : undefined
        if (principal === undefined) return yield* unauthorized
        return yield* audited(log, { endpoint, group }, principal, Effect.provideService(route, Caller, principal))
      })
    })
  })
)

export const visitors: Layer.Layer<VisitorAuthorization, never, KeyCheck | PublicAccess | Settings> = Layer.effect(
  VisitorAuthorization,
  Effect.gen(function* () {
    const keys = yield* KeyCheck
    const publicAccess = yield* PublicAccess
    const settings = yield* Settings
    const address = Effect.provideService(clientAddress, Settings, settings)
    return VisitorAuthorization.of({
      bearer: Effect.fnUntraced(function* (route, { credential, endpoint, group }) {
        const given = Redacted.value(credential) !== ""
        const principal = given ? yield* keys.authenticate(credential, operationScope(group, endpoint)) : undefined
        if (given && principal === undefined) return yield* unauthorized
        const answer = Effect.provideService(route, Visitor, { principal })
        if (given) return yield* answer
        yield* publicAccess.request(yield* address)
        return yield* Effect.provideService(answer, HttpIncomingMessage.MaxBodySize, visitorBytes)
      })
    })
  })
)

const unauthorized = Effect.suspend(() => Effect.fail(new Unauthorized({ message: "Missing or invalid API key" })))
