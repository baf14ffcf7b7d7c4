// The text of a body that the framework decodes as JSON: 400 when it nests deeper, or holds more, than any body of ours.
import { Effect } from "effect"
import { HttpServerError, type HttpServerRequest } from "effect/http"
import { jsonExcess } from "./jsonBounds.ts"

/** The same request, whose `text` fails beyond the bounds of JSON. */
export const withBoundedText = (request: HttpServerRequest.HttpServerRequest): HttpServerRequest.HttpServerRequest =>
  Object.create(request, {
    text: {
      get: () =>
        Effect.flatMap(request.text, (text) => {
          const excess = jsonExcess(text)
          return excess === undefined ? Effect.succeed(text) : Effect.fail(beyondBounds(request, excess))
        })
    }
  })

const beyondBounds = (request: HttpServerRequest.HttpServerRequest, description: string) =>
  new HttpServerError.HttpServerError({ reason: new HttpServerError.RequestParseError({ request, description }) })
