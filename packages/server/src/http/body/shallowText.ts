// The text of a body that the framework decodes as JSON: 400 when it nests deeper than any body of ours, since what it is decoded
// to is visited recursively.
import { Effect } from "effect"
import { HttpServerError, type HttpServerRequest } from "effect/http"
import { deepestJson, nestsDeeper } from "./jsonDepth.ts"

/** The same request, whose `text` fails where it nests too deep. */
export const shallowText = (request: HttpServerRequest.HttpServerRequest): HttpServerRequest.HttpServerRequest =>
  Object.create(request, {
    text: {
      get: () =>
        Effect.flatMap(request.text, (text) =>
          nestsDeeper(text, deepestJson) ? Effect.fail(tooDeep(request)) : Effect.succeed(text)
        )
    }
  })

const tooDeep = (request: HttpServerRequest.HttpServerRequest) =>
  new HttpServerError.HttpServerError({
    reason: new HttpServerError.RequestParseError({ request, description: "nested too deep" })
  })
