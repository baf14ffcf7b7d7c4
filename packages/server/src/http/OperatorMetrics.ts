// /metrics, for whoever operates the service: a scraper on this machine, or one with a key of the operator's workspace.
import { firstWorkspace, Workspaces } from "@parley/workspace/identity/Workspaces"
import { Effect, Layer, Option, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { errorResponse } from "./ErrorEnvelope.ts"
import { KeyCheck } from "./KeyCheck.ts"

export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter | KeyCheck | Workspaces> = Layer.unwrap(
  Effect.gen(function* () {
    const keys = yield* KeyCheck
    const workspaces = yield* Workspaces

    const isOperator = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      if (isLocal(request)) return true
      const key = /^bearer\s+(\S+)$/i.exec(request.headers["authorization"] ?? "")?.[1]
      if (key === undefined) return false
      const principal = yield* keys.authenticate(Redacted.make(key), "read")
      return principal !== undefined && principal.workspaceId === (yield* workspaces.find(firstWorkspace))
    })

    return HttpRouter.add(
      "GET",
      "/metrics",
      Effect.gen(function* () {
        const allowed = yield* isOperator(yield* HttpServerRequest.HttpServerRequest)
        if (!allowed) return errorResponse(401, "A key of the operator's workspace is required")
        const text = yield* PrometheusMetrics.format()
        return HttpServerResponse.text(text, { contentType: "text/plain; version=0.0.4; charset=utf-8" })
      }).pipe(Effect.catch(({ message, status }) => Effect.succeed(errorResponse(status, message))))
    )
  })
)

/** Of this machine itself, and not through a proxy that runs here. */
const isLocal = ({ headers, remoteAddress }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["x-forwarded-for"] === undefined &&
  headers["forwarded"] === undefined &&
  /^(127\.|::1$|::ffff:127\.)/.test(Option.getOrElse(remoteAddress, () => ""))
