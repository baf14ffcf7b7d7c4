// A WebSocket server on loopback whose handshakes go wrong on order. What is said on an open socket is the test's.
import { createServer } from "node:http"
import type { IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import type { Scope } from "effect"
import { WebSocketServer } from "ws"
import type { WebSocket } from "ws"

export type Handshake =
  | "opens"
  /** The connection is destroyed. */
  | "dead"
  /** Taken and never answered. */
  | "hangs"
  /** Refused with this status. */
  | number

export interface FakeSocketServer {
  readonly baseUrl: string
  /** Of each handshake. */
  readonly requests: ReadonlyArray<{ readonly url: URL; readonly headers: IncomingMessage["headers"] }>
  /** One per coming handshake; afterwards they open. */
  readonly handshake: (...behaviours: ReadonlyArray<Handshake>) => void
  /** Sockets open now. */
  readonly open: () => number
}

export const makeFakeSocketServer = Effect.fnUntraced(function* (
  talk: (socket: WebSocket, url: URL) => void
): Effect.fn.Return<FakeSocketServer, never, Scope.Scope> {
  const requests: Array<{ readonly url: URL; readonly headers: IncomingMessage["headers"] }> = []
  const behaviours: Array<Handshake> = []
  const sockets = new WebSocketServer({ noServer: true })
  const server = createServer((_, response) => response.writeHead(404).end())
  server.on("upgrade", (request, socket, head) => {
    const url = new URL(request.url ?? "/", "http://loopback")
    requests.push({ url, headers: request.headers })
    const behaviour = behaviours.shift() ?? "opens"
    socket.on("error", () => {})
    if (behaviour === "hangs") return
    if (behaviour === "dead") return void socket.destroy()
    if (behaviour !== "opens") return void socket.end(`HTTP/1.1 ${behaviour} No\r\nconnection: close\r\n\r\n`)
    sockets.handleUpgrade(request, socket, head, (open) => {
      open.on("error", () => {})
      talk(open, url)
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        for (const socket of sockets.clients) socket.terminate()
        server.closeAllConnections()
        server.close()
      })
  )
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`,
    requests,
    handshake: (...more) => behaviours.push(...more),
    open: () => sockets.clients.size
  }
})

/** Text frames as JSON, binary frames as bytes. */
export const onFrame = (socket: WebSocket, take: (frame: Readonly<Record<string, unknown>> | Buffer) => void): void => {
  socket.on("message", (data, isBinary) => {
    const bytes = Buffer.isBuffer(data) ? data : Buffer.concat(data as ReadonlyArray<Buffer>)
    take(isBinary ? bytes : (JSON.parse(bytes.toString()) as Readonly<Record<string, unknown>>))
  })
}
