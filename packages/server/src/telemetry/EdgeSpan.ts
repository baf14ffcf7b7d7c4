// The span of a request at the edge, `edge.request`: continues the caller's W3C trace (`traceparent`) or starts one. It has
// the method and the status but no path, because a path may hold ids and telephone numbers.
import { Context, Effect, Option, References } from "effect"
import { Headers, HttpServerRequest, type HttpServerResponse, HttpTraceContext } from "effect/http"

/** What the span says of a request. */
export interface EdgeSpanOptions<A> {
  readonly method: string
  readonly status: (answer: A) => number
}

/** Runs the effect in the span. `status` gives the HTTP status of its result, 101 for an upgrade. */
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
