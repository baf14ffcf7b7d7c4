// How many requests were answered with what, and how long it took. No path is a label: it holds ids.
import { Effect, Metric } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"

const answered = Metric.counter("parley_http_requests_total", {
  description: "HTTP requests answered",
  incremental: true
})
const seconds = Metric.histogram("parley_http_request_seconds", {
  description: "Time from request to response head",
  boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})

export const measured = <E, R>(
  route: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest> =>
  Effect.gen(function* () {
    const { method } = yield* HttpServerRequest.HttpServerRequest
    const began = performance.now()
    const response = yield* route
    yield* Metric.update(Metric.withAttributes(answered, { method, status: String(response.status) }), 1)
    yield* Metric.update(seconds, (performance.now() - began) / 1000)
    return response
  })
