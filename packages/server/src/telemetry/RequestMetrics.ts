// How many requests were answered with what, and how long it took. No path is a label: it holds ids.
import { Context, Effect, Metric } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"

const answered = Metric.counter("parley_http_requests_total", {
  description: "HTTP requests answered",
  incremental: true
})
const seconds = Metric.histogram("parley_http_request_seconds", {
  description: "Time from request to response head",
  boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})

/** Counts the answer by method and status, and measures the seconds until its head is ready. Around every route. */
export const measured = <E, R>(
  route: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest> =>
  Effect.withFiber((fiber) => {
    const { method } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const began = performance.now()
    return Effect.map(route, (response) => {
      counterOf(method, response.status).updateUnsafe(1, fiber.context)
      seconds.updateUnsafe((performance.now() - began) / 1000, fiber.context)
      return response
    })
  })

/** Methods and statuses are few; a counter is made once for each pair. */
const counterOf = (method: string, status: number) => {
  const key = `${method} ${status}`
  const known = counters.get(key)
  if (known !== undefined) return known
  const made = Metric.withAttributes(answered, { method, status: String(status) })
  counters.set(key, made)
  return made
}
const counters = new Map<string, typeof answered>()
