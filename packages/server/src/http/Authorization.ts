// Bearer authentication against the stored keys. A missing and a bad key are the same 401, but where visitors may come.
import { Unauthorized } from "@parley/contract/Errors"
import { Authorization, Caller, Visitor, VisitorAuthorization } from "@parley/contract/MainApi/Authorization"
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { Effect, Layer, Redacted } from "effect"

export const layer: Layer.Layer<Authorization, never, ApiKeys> = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const keys = yield* ApiKeys
    return Authorization.of({
      bearer: Effect.fnUntraced(function* (route, { credential }) {
        const principal = Redacted.value(credential) === "" ? undefined : yield* keys.authenticate(credential)
        if (principal === undefined) return yield* new Unauthorized({ message: "Missing or invalid API key" })
        return yield* Effect.provideService(route, Caller, principal)
      })
    })
  })
)

export const visitors: Layer.Layer<VisitorAuthorization, never, ApiKeys> = Layer.effect(
  VisitorAuthorization,
  Effect.gen(function* () {
    const keys = yield* ApiKeys
    return VisitorAuthorization.of({
      bearer: Effect.fnUntraced(function* (route, { credential }) {
        const given = Redacted.value(credential) !== ""
        const principal = given ? yield* keys.authenticate(credential) : undefined
        if (given && principal === undefined) return yield* new Unauthorized({ message: "Missing or invalid API key" })
        return yield* Effect.provideService(route, Visitor, { principal })
      })
    })
  })
)
