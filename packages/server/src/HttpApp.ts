// Everything the service answers over HTTP, on one server: the main API, its description, metrics, the console.
import { NodeHttpServer } from "@effect/platform-node"
import { MainApi } from "@parley/contract/MainApi/MainApi"
import { ByteSize, Cause, Effect, Layer, type Types } from "effect"
import {
  Headers,
  HttpIncomingMessage,
  HttpMiddleware,
  HttpRouter,
  HttpServer,
  HttpServerRequest,
  type HttpServerResponse
} from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { StartFault } from "@parley/workspace/storage/StartFault"
import { Settings } from "./Settings.ts"
import { traced } from "./telemetry/EdgeSpan.ts"
import { measured } from "./telemetry/RequestMetrics.ts"
import * as AgentTestHandlers from "./http/AgentTestHandlers.ts"
import * as AgentHandlers from "./http/AgentHandlers.ts"
import * as AuditHandlers from "./http/AuditHandlers.ts"
import * as Authorization from "./http/Authorization.ts"
import * as ConsoleFiles from "./http/ConsoleFiles.ts"
import * as DocsPage from "./http/DocsPage.ts"
import * as OperatorMetrics from "./http/OperatorMetrics.ts"
import { errorEnvelope } from "./http/ErrorEnvelope.ts"
import * as KeyHandlers from "./http/KeyHandlers.ts"
import * as KnowledgeHandlers from "./http/KnowledgeHandlers.ts"
import * as McpServerHandlers from "./http/McpServerHandlers.ts"
import { withBoundedText } from "./http/body/boundedText.ts"
import { HttpListener } from "./http/HttpListener.ts"
import * as ElevenLabs from "./compat/elevenlabs/ElevenLabs.ts"
import * as OpenRouter from "./compat/openrouter/OpenRouter.ts"
import * as ModelHandlers from "./http/ModelHandlers.ts"
import * as PhoneCallHandlers from "./http/PhoneCallHandlers.ts"
import * as PhoneNumberHandlers from "./http/PhoneNumberHandlers.ts"
import * as RecordingHandlers from "./http/RecordingHandlers.ts"
import * as SessionStartHandlers from "./http/SessionStartHandlers.ts"
import * as SessionHandlers from "./http/SessionHandlers.ts"
import * as LiveTts from "./http/sockets/LiveTts.ts"
import * as SpeechHandlers from "./http/SpeechHandlers.ts"
import * as SystemHandlers from "./http/SystemHandlers.ts"
import * as ToolHandlers from "./http/ToolHandlers.ts"
import * as Validation from "./http/Validation.ts"
import * as WalletHandlers from "./http/WalletHandlers.ts"
import * as WebhookHandlers from "./http/WebhookHandlers.ts"

/** A configuration's longest prompt fits, escaped. */
const bodyLimit = ByteSize.mebibytes(4)

/** Calls and requests in flight get this long when the service stops. */
const drainMs = 5000

const api = HttpApiBuilder.layer(MainApi, { openapiPath: "/openapi.json" }).pipe(
  Layer.provide([
    AgentHandlers.layer,
    AgentTestHandlers.layer,
    AuditHandlers.layer,
    KeyHandlers.layer,
    KnowledgeHandlers.layer,
    McpServerHandlers.layer,
    ModelHandlers.layer,
    PhoneCallHandlers.layer,
    PhoneNumberHandlers.layer,
    RecordingHandlers.layer,
    SessionStartHandlers.layer,
    SessionHandlers.layer,
    SpeechHandlers.layer,
    SystemHandlers.layer,
    ToolHandlers.layer,
    WalletHandlers.layer,
    WebhookHandlers.layer
  ]),
  Layer.provide([Authorization.layer, Authorization.visitors, Validation.layer])
)

const cors = HttpMiddleware.cors({
  allowedOrigins: [],
  allowedMethods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
  exposedHeaders: ["WWW-Authenticate", "Retry-After", "X-Generation-Id", "X-Request-Id"],
  maxAge: 86_400
})

/**
 * The body has an end and a depth, and where there is none its declared type counts for nothing: some clients declare a form
 * when they send nothing.
 */
const limited = <E, R>(route: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const { headers } = request
    const empty = headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0
    if (!empty) {
      return route.pipe(
        Effect.provideService(HttpIncomingMessage.MaxBodySize, bodyLimit),
        Effect.provideService(HttpServerRequest.HttpServerRequest, withBoundedText(request))
      )
    }
    if (headers["content-type"] === undefined) return route
    const plain = request.modify({ headers: Headers.remove(headers, "content-type") })
    return Effect.provideService(route, HttpServerRequest.HttpServerRequest, plain)
  })

/**
 * One middleware, so that the order is plain: CORS around the span around measuring around the envelope around the
 * limits. It fails with nothing; the router only takes what may still fail.
 */
const around = HttpRouter.middleware(
  (route): Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled, HttpServerRequest.HttpServerRequest> =>
    cors(traced(measured(errorEnvelope(limited(route))))),
  { global: true }
)

const routes = Layer.mergeAll(
  api,
  DocsPage.layer,
  OperatorMetrics.layer,
  ConsoleFiles.layer(),
  ElevenLabs.layer,
  OpenRouter.layer,
  LiveTts.layer,
  around
)

const listening = Layer.unwrap(
  Effect.gen(function* () {
    const { server } = yield* HttpListener
    const { host, port } = yield* Settings
    const bound = NodeHttpServer.layer(() => server, { host, port, disablePreemptiveShutdown: true })
    return bound.pipe(
      Layer.catchCause((cause) =>
        Layer.effectContext<Layer.Success<typeof bound>, StartFault, never>(
          Effect.fail(cannotListen(cause, host, port))
        )
      )
    )
  })
)

/**
 * Built last, closed first: calls are ended while /health still answers `draining`, then there are no new connections, a
 * moment for those in flight, and everything is cut.
 */
const drain = Layer.effectDiscard(
  Effect.gen(function* () {
    const listener = yield* HttpListener
    yield* HttpServer.HttpServer
    const closed = Effect.callback<void>((resume) => {
      listener.server.close(() => resume(Effect.void))
      listener.server.closeIdleConnections()
    })
    yield* Effect.addFinalizer(() =>
      Effect.andThen(listener.drain, closed).pipe(
        Effect.timeoutOrElse({ duration: drainMs, orElse: () => Effect.sync(listener.closeAll) })
      )
    )
  })
)

export const layer = drain.pipe(
  Layer.provideMerge(HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true })),
  Layer.provideMerge(listening)
)

const cannotListen = (cause: Cause.Cause<unknown>, host: string, port: number): StartFault => {
  const text = Cause.pretty(cause)
  const why = /EADDRINUSE/.test(text)
    ? "the port is in use; stop the other service or set PORT"
    : /EACCES/.test(text)
      ? "not permitted; set PORT to 1024 or more"
      : /EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN/.test(text)
        ? "this machine does not have that address; set HOST"
        : "the address cannot be used"
  return new StartFault({ message: `Cannot listen on ${host}:${port}: ${why}` })
}
