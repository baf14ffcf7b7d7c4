// The speech sockets: an upgrade is answered by the first route whose path fits, which either refuses it with an HTTP answer
// or takes the socket. Each conversation is a fiber of its own that ends with its socket; the service ends all of them when
// it stops (close code 1001).
import { Context, Effect, FiberSet, Layer, type Scope } from "effect"
import type { TooManyRequests } from "@parley/contract/Errors"
import { type IncomingMessage, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import { type WebSocket, WebSocketServer } from "ws"
import { connectionOf, CurrentConnection } from "../clientAddress.ts"
import { HttpListener } from "../HttpListener.ts"
import { overWebSocket, type SpeechSocket } from "./SpeechSocket.ts"
import { keyFrameBytes, UnauthenticatedSockets } from "./UnauthenticatedSockets.ts"
import { edgeSpan } from "../../telemetry/EdgeSpan.ts"

/** The request of an upgrade, as a route sees it before anything is upgraded. */
export interface Handshake {
  readonly headers: IncomingMessage["headers"]
  readonly query: URLSearchParams
  /** The parts of the path that the route's pattern caught, decoded. */
  readonly path: ReadonlyArray<string>
}

/** An HTTP answer instead of an upgrade. */
export interface RejectedUpgrade {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

/** What runs on a socket from its upgrade to its end. */
export type Conversation = (socket: SpeechSocket) => Effect.Effect<void, never, Scope.Scope>

/** A conversation whose key comes with the first message: it tells when that was right. */
export interface KeylessConversation {
  readonly begin: (socket: SpeechSocket, authenticated: () => void) => ReturnType<Conversation>
  /** The answer when there are too many of them. */
  readonly refused: (error: TooManyRequests) => RejectedUpgrade
}

interface AdmittedSocket {
  readonly talk: Conversation
  readonly firstFrameBytes: number | undefined
}

/** A path, and what speaks on its sockets. */
export interface WebSocketRoute {
  readonly path: RegExp
  /** Fails with the HTTP answer instead of the upgrade, or gives the conversation that runs on the socket. */
  readonly accept: (handshake: Handshake) => Effect.Effect<Conversation | KeylessConversation, RejectedUpgrade>
}

/** Largest frame on every authenticated socket: 32 MiB, else close code 1009. */
const frameBytes = 32 * 2 ** 20
/** Longest connection on every socket: one hour. */
const connectionMs = 3_600_000
/** The status of an upgrade that happened. */
const switching = 101
/** Handshakes are answered within this time or not at all. */
const acceptMs = 10_000

/** The routes of speech sockets. */
export class WebSocketRoutes extends Context.Service<
  WebSocketRoutes,
  {
    /** Serves the route until the scope closes. */
    readonly add: (route: WebSocketRoute) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@parley/server/WebSocketRoutes") {
  static readonly layer: Layer.Layer<WebSocketRoutes, never, HttpListener | UnauthenticatedSockets> = Layer.effect(
    WebSocketRoutes,
    Effect.gen(function* () {
      const listener = yield* HttpListener
      const unauthenticated = yield* UnauthenticatedSockets
      const routes = new Set<WebSocketRoute>()
      const server = new WebSocketServer({ noServer: true, maxPayload: frameBytes, perMessageDeflate: false })
      const conversations = yield* FiberSet.make<void>()
      const run = yield* FiberSet.runtime(conversations)<never>()

      /** Fails when there are too many without a key. */
      const admitted = (
        accepted: Conversation | KeylessConversation
      ): Effect.Effect<AdmittedSocket, RejectedUpgrade, Scope.Scope> =>
        typeof accepted === "function"
          ? Effect.succeed({ talk: accepted, firstFrameBytes: undefined })
          : unauthenticated.enter.pipe(
              Effect.mapError(accepted.refused),
              Effect.map(({ authenticated }) => ({
                talk: (socket: SpeechSocket) =>
                  accepted.begin(socket, () => {
                    authenticated()
                    socket.readOn()
                  }),
                firstFrameBytes: keyFrameBytes
              }))
            )

      const serve = (
        route: WebSocketRoute,
        handshake: Handshake,
        request: IncomingMessage,
        socket: Duplex,
        head: Buffer
      ) =>
        route.accept(handshake).pipe(
          Effect.timeoutOrElse({ duration: acceptMs, orElse: () => Effect.fail(overdue) }),
          Effect.flatMap(admitted),
          Effect.matchEffect({
            onFailure: (rejection) =>
              Effect.sync(() => {
                socket.end(httpAnswer(rejection), () => socket.destroy())
                return rejection.status
              }),
            onSuccess: ({ firstFrameBytes, talk }) =>
              Effect.gen(function* () {
                const ws = yield* upgraded(server, request, socket, head)
                const wire = yield* overWebSocket(ws, firstFrameBytes)
                yield* talk(wire).pipe(
                  Effect.raceFirst(wire.closed),
                  Effect.timeoutOrElse({ duration: connectionMs, orElse: () => wire.close(1001, "one hour is over") }),
                  Effect.onInterrupt(() => wire.close(1001, "going away"))
                )
                return switching
              })
          }),
          Effect.scoped,
          Effect.provideService(CurrentConnection, connectionOf(request)),
          edgeSpan(handshake.headers, { method: "GET", status: (status) => status }),
          Effect.catchDefect((defect) => Effect.logError("A speech socket failed", defect)),
          Effect.ensuring(Effect.sync(() => socket.destroy()))
        )

      yield* listener.serve({
        paths: /^\/(v1|compat)\//,
        drain: FiberSet.clear(conversations),
        upgrade: (request, socket, head) => {
          const url = new URL(request.url ?? "/", "http://localhost")
          for (const route of routes) {
            const caught = route.path.exec(url.pathname)
            if (caught === null) continue
            socket.on("error", () => undefined)
            const path = caught.slice(1).map(decoded)
            run(serve(route, { headers: request.headers, query: url.searchParams, path }, request, socket, head))
            return true
          }
          return false
        }
      })

      return {
        add: (route) =>
          Effect.asVoid(
            Effect.acquireRelease(
              Effect.sync(() => routes.add(route)),
              () => Effect.sync(() => routes.delete(route))
            )
          )
      }
    })
  )
}

const overdue: RejectedUpgrade = { status: 503, body: { status: 503, message: "Service unavailable", reason: null } }

const upgraded = (server: WebSocketServer, request: IncomingMessage, socket: Duplex, head: Buffer) =>
  Effect.callback<WebSocket>((resume) => {
    // A handshake that is none is answered and closed by the library.
    server.handleUpgrade(request, socket, head, (ws) => resume(Effect.succeed(ws)))
    socket.once("close", () => resume(Effect.interrupt))
  })

const httpAnswer = ({ body, headers = {}, status }: RejectedUpgrade): string => {
  const text = JSON.stringify(body)
  const all = {
    ...headers,
    connection: "close",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(text))
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Error"}`, ...lines, "", text].join("\r\n")
}

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
