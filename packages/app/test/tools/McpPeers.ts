// MCP servers of others, on loopback: the protocol's official SDK, which lies outside the workspace, and effect's own.
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer, Schema, type Scope } from "effect"
import { type McpProtocol, McpServer, Tool, Toolkit } from "effect/ai"
import { HttpRouter, HttpServer } from "effect/http"
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import { createRequire } from "node:module"
import type { AddressInfo } from "node:net"
import { existsSync } from "node:fs"

const manifest = new URL("../../../server/test/peers/package.json", import.meta.url)
export const peersMissing = !existsSync(new URL("node_modules/@modelcontextprotocol/sdk/package.json", manifest))
if (peersMissing && process.env["CI"] === "true")
  throw new Error("The official MCP SDK is missing: npm test installs it")

interface SdkServer {
  readonly registerTool: (
    name: string,
    about: { readonly description: string; readonly inputSchema?: Readonly<Record<string, unknown>> },
    run: (
      args: Readonly<Record<string, unknown>>,
      extra: { readonly sendRequest: (request: object, result: unknown) => Promise<unknown> }
    ) => Promise<unknown>
  ) => unknown
  readonly connect: (transport: SdkTransport) => Promise<void>
}
interface SdkTransport {
  readonly handleRequest: (request: IncomingMessage, response: ServerResponse, body?: unknown) => Promise<void>
  readonly sessionId?: string
}

/** An HTTP server on any port of loopback. */
export const listen = Effect.fnUntraced(function* (handle: RequestListener) {
  const server = createServer(handle)
  yield* Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void)))
  yield* Effect.addFinalizer(() => Effect.sync(() => void (server.closeAllConnections(), server.close())))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
})

export interface SdkPeer {
  readonly url: string
  /** Sessions that are open now, and how many there were. */
  readonly sessions: { readonly open: Set<string>; opened: number }
  readonly called: Array<Readonly<Record<string, unknown>>>
  /** As after a restart. */
  readonly forget: () => void
}

/** Stateful, with or without event streams; the header `x-door` must be `open sesame`. */
export const sdkServer = Effect.fnUntraced(function* (options: {
  readonly json: boolean
}): Effect.fn.Return<SdkPeer, never, Scope.Scope> {
  const load = createRequire(manifest)
  const { McpServer: Sdk } = load("@modelcontextprotocol/sdk/server/mcp.js") as {
    readonly McpServer: new (info: object) => SdkServer
  }
  const { StreamableHTTPServerTransport: Transport } = load("@modelcontextprotocol/sdk/server/streamableHttp.js") as {
    readonly StreamableHTTPServerTransport: new (options: object) => SdkTransport
  }
  const { EmptyResultSchema } = load("@modelcontextprotocol/sdk/types.js") as { readonly EmptyResultSchema: unknown }
  const { z } = load("zod") as { readonly z: { readonly string: () => { describe: (text: string) => unknown } } }

  const transports = new Map<string, SdkTransport>()
  const peer = { sessions: { open: new Set<string>(), opened: 0 }, called: [] as SdkPeer["called"] }

  const open = async (): Promise<SdkTransport> => {
    const server = new Sdk({ name: "visits", version: "1.0.0" })
    const inputSchema = { day: z.string().describe("YYYY-MM-DD") }
    server.registerTool(
      "find.visit",
      { description: "Finds a visit by its day.", inputSchema },
      async (args, extra) => {
        peer.called.push(args)
        // Requested in the middle of the call, over the same stream.
        if (!options.json) await extra.sendRequest({ method: "ping" }, EmptyResultSchema)
        return {
          content: [
            { type: "text", text: `A visit on ${String(args["day"])}` },
            { type: "text", text: "at three." }
          ]
        }
      }
    )
    server.registerTool("cancel_visit", { description: "Cancels it." }, () =>
      Promise.resolve({ content: [{ type: "text", text: "there is no such visit" }], isError: true })
    )
    const transport = new Transport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: options.json,
      onsessioninitialized: (id: string) => {
        transports.set(id, transport)
        peer.sessions.open.add(id)
        peer.sessions.opened++
      },
      onsessionclosed: (id: string) => void peer.sessions.open.delete(id)
    })
    await server.connect(transport)
    return transport
  }

  const url = yield* listen((request, response) => {
    if (request.headers["x-door"] !== "open sesame") return void response.writeHead(401).end()
    const id = request.headers["mcp-session-id"]
    const known = typeof id === "string" ? transports.get(id) : undefined
    if (id !== undefined && known === undefined) return void response.writeHead(404).end()
    void Promise.resolve(known ?? open()).then((transport) => transport.handleRequest(request, response))
  })
  return Object.assign(peer, { url, forget: () => void (transports.clear(), peer.sessions.open.clear()) })
})

const GetTime = Tool.make("get_time", {
  description: "The time in a place.",
  parameters: Schema.Struct({ place: Schema.String }),
  success: Schema.String
})
const tools = Toolkit.make(GetTime)

/** The effect library's server, speaking this revision of the protocol. */
export const effectServer = Effect.fnUntraced(function* (
  protocol:
    | typeof McpProtocol.v2025_03_26
    | typeof McpProtocol.v2025_06_18
    | typeof McpProtocol.v2025_11_25
    | typeof McpProtocol.v2026_07_28
) {
  const registrations = McpServer.toolkit(tools).pipe(
    Layer.provide(tools.toLayer({ get_time: ({ place }) => Effect.succeed(`noon in ${place}`) }))
  )
  const app = McpServer.layerHttp({
    name: "clock",
    version: "1.0.0",
    path: "/mcp",
    protocols: [protocol],
    allowSessionTermination: true,
    registrations
  })
  const context = yield* Layer.build(
    HttpRouter.serve(app, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provideMerge(NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port: 0 }))
    )
  )
  const address = yield* Effect.provide(
    Effect.map(HttpServer.HttpServer, (server) => server.address),
    context
  )
  if (address._tag !== "InetAddressV4") return yield* Effect.die("no port")
  return `http://127.0.0.1:${address.port}/mcp`
})
