// The span of a request at the edge (decisions 14): continues the caller's W3C trace, or starts one. It says method
// and status; a path may hold ids and numbers, so it says none.
import { Context, Effect, Option, References } from "effect"
import { Headers, HttpServerRequest, type HttpServerResponse, HttpTraceContext } from "effect/http"

export interface EdgeSpanOptions<A> {
  readonly method: string
  readonly status: (answer: A) => number
}

export const edgeSpan =
  <A>(
    headers: HttpServerRequest.HttpServerRequest["headers"] | NodeJS.Dict<string | Array<string>>,
    { method, status }: EdgeSpanOptions<A>
  ) =>
  <E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    effect.pipe(
      Effect.tap((answer) => Effect.annotateCurrentSpan("http.response.status_code", status(answer))),
      Effect.withSpan("edge.request", {
        kind: "server",
        parent: Option.getOrUndefined(HttpTraceContext.fromHeaders(Headers.fromInput(headers))),
        attributes: { "http.request.method": method }
      })
    )

/** Polled by machines, of no interest as spans. */
const quiet = /^\/(metrics|health)(\?|$)/

/** Around every route. */
export const traced = <E, R>(
  route: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest> =>
  Effect.withFiber((fiber) => {
    const { headers, method, url } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    return quiet.test(url) || !fiber.getRef(References.TracerEnabled)
      ? route
      : edgeSpan<HttpServerResponse.HttpServerResponse>(headers, { method, status: (answer) => answer.status })(route)
  })
