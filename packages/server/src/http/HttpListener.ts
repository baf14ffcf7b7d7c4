// The raw way past the HTTP framework for sockets: upgrades of media signalling and of speech sockets, and plain GETs
// of /rtc/validate. Their owners have those sockets from the first byte; the framework's own socket costs a third
// more per frame, never says when a frame is out, and cannot be reached from outside. Nothing here throws: an error in
// a handler closes its socket.
import { Context, Effect, Layer, type Scope } from "effect"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { bareErrorResponse } from "./ErrorEnvelope.ts"

/** Handlers of sockets and of requests that the HTTP framework does not see. */
export interface UpgradeHandlers {
  /** Which upgrades are offered. */
  readonly paths: RegExp
  /** Ends what is live in an orderly way; run when the service stops, before its sockets are closed. */
  readonly drain?: Effect.Effect<void>
  /** Takes the socket over and returns true, or leaves it alone. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean
  /** Answers the request and returns true, or leaves it alone. */
  readonly validate?: (request: IncomingMessage, response: ServerResponse) => boolean
}

/** Bounds of the server. */
export interface HttpListenerOptions {
  /** A request whose body stops coming for this long is answered with 408. Default 20 s. */
  readonly bodyIdleMs?: number
}

/** The HTTP server before the framework gets its requests. */
export class HttpListener extends Context.Service<
  HttpListener,
  {
    /** A server that offers signalling requests to the handlers first. */
    readonly server: Server
    /** Offers upgrades and requests to the handlers until the scope closes, in the order they were added. */
    readonly serve: (handlers: UpgradeHandlers) => Effect.Effect<void, never, Scope.Scope>
    /** Runs the `drain` of all handlers at the same time. */
    readonly drain: Effect.Effect<void>
    /** Destroys what is still open on the server, signalling sockets included. */
    readonly closeAll: () => void
  }
>()("@parley/server/HttpListener") {
  static readonly layerWith = ({ bodyIdleMs = 20_000 }: HttpListenerOptions): Layer.Layer<HttpListener> =>
    Layer.sync(HttpListener, () => {
      const sockets = new Set<Duplex>()
      const all = new Set<UpgradeHandlers>()
      const server = createServer({ requestTimeout: 600_000, headersTimeout: 20_000 })
      server.on("request", (request) => {
        if (request.complete) return
        request.socket.setTimeout(bodyIdleMs)
        request.once("close", () => request.socket.setTimeout(0))
        request.once("end", () => request.socket.setTimeout(0))
      })
      // Only a body that stopped coming makes a socket wait for this.
      server.on("timeout", (socket) => {
        if (socket.writable) socket.end(bareErrorResponse(408), () => socket.destroy())
        else socket.destroy()
      })
      server.on("connection", (socket) => {
        sockets.add(socket)
        socket.once("close", () => sockets.delete(socket))
      })
      server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
        const status =
          error.code === "HPE_HEADER_OVERFLOW" ? 431 : error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400
        if (socket.writable && error.code !== "ECONNRESET")
          socket.end(bareErrorResponse(status), () => socket.destroy())
        else socket.destroy()
      })
      const emit = server.emit.bind(server)
      server.emit = (event: string, ...args: Array<unknown>): boolean => {
        const [request, second, head] = args
        const path = isRequest(request) ? (request.url ?? "").split("?", 1)[0] : undefined
        try {
          if (event === "upgrade") {
            const socket = second as Duplex
            socket.on("error", () => undefined)
            for (const { paths, upgrade } of all) {
              if (!paths.test(path ?? "")) continue
              if (upgrade(request as IncomingMessage, socket, head as Buffer)) return true
            }
            if (signalling.test(path ?? "")) {
              socket.end(bareErrorResponse(503), () => socket.destroy())
              return true
            }
          }
          if (event === "request" && (path === "/rtc/validate" || path === "/rtc/v1/validate")) {
            for (const { validate } of all) {
              if (validate?.(request as IncomingMessage, second as ServerResponse) === true) return true
            }
          }
        } catch {
          ;(second as Duplex).destroy()
          return true
        }
        return emit(event, ...args)
      }
      return {
        server,
        serve: (given) =>
          Effect.asVoid(
            Effect.acquireRelease(
              Effect.sync(() => all.add(given)),
              () => Effect.sync(() => all.delete(given))
            )
          ),
        drain: Effect.suspend(() =>
          Effect.forEach([...all], ({ drain }) => drain ?? Effect.void, { concurrency: "unbounded", discard: true })
        ),
        closeAll: () => {
          server.closeAllConnections()
          for (const socket of sockets) socket.destroy()
        }
      }
    })

  static readonly layer: Layer.Layer<HttpListener> = HttpListener.layerWith({})
}

/** Media signalling, which is refused while nobody serves it. */
export const signalling = /^\/rtc(\/v1)?$/

const isRequest = (value: unknown): value is IncomingMessage =>
  typeof value === "object" && value !== null && "url" in value && "headers" in value
