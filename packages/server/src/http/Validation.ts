// Requests that do not fit their schema: a body that is no JSON is 400, a wrong field 422 with its place, a path
// that cannot be an id 404.
import { BadRequest, invalid, notFound } from "@parley/contract/Errors"
import { faultsOf } from "@parley/contract/Fault"
import { Validation } from "@parley/contract/MainApi/Validation"
import { Effect, type Layer } from "effect"
import { HttpApiMiddleware } from "effect/http-api"

export const layer: Layer.Layer<Validation> = HttpApiMiddleware.layerSchemaErrorTransform(Validation, (error) => {
  const { issue } = error.cause
  switch (error.kind) {
    case "Params":
      return Effect.fail(notFound("Record"))
    case "Payload":
    case "Query":
    case "Headers": {
      const malformed = error.kind === "Payload" && isMalformed(issue)
      const place = error.kind === "Payload" ? "body" : error.kind === "Query" ? "query" : "header"
      return Effect.fail(malformed ? new BadRequest({ message: "Malformed JSON" }) : invalid(faultsOf(issue, place)))
    }
    default:
      // Our own answer does not fit its schema.
      return Effect.die(error)
  }
})

/** How the framework reports a body that JSON.parse refuses: a bare invalid value with this message. */
const isMalformed = (issue: { readonly _tag: string; readonly annotations?: unknown }): boolean =>
  issue._tag === "InvalidValue" && JSON.stringify(issue.annotations ?? {}).includes("Expected a valid JSON body")
