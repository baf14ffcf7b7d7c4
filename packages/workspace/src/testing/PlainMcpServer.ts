// The least of an MCP server, without sessions and streams: it greets and lists what tools it has just now.
import { Effect, type Scope } from "effect"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"

export interface PlainMcpServer {
  readonly url: string
  /** As `tools/list` gives them. */
  tools: ReadonlyArray<{ readonly name: string; readonly description: string; readonly inputSchema: object }>
  /** Answers 503 from now on. */
  isDown: boolean
  /** Requests that it answered. */
  asked: number
}

/** An address of loopback that nobody else is allowed to reach. */
export const plainHost = "127.0.0.77"

export const plainMcpServer: Effect.Effect<PlainMcpServer, never, Scope.Scope> = Effect.gen(function* () {
  const server = createServer((request, response) => {
    void textOf(request).then((text) => {
      if (state.isDown) return response.writeHead(503).end()
      if (request.method !== "POST") return response.writeHead(405).end()
      const { id, method } = JSON.parse(text) as { readonly id?: number; readonly method: string }
      if (id === undefined) return response.writeHead(202).end()
      state.asked += 1
      const result =
        method === "initialize"
          ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "plain", version: "1" } }
          : { tools: state.tools }
      return response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id, result }))
    })
  })
  yield* Effect.callback<void>((resume) => void server.listen(0, plainHost, () => resume(Effect.void)))
  yield* Effect.addFinalizer(() => Effect.sync(() => void (server.closeAllConnections(), server.close())))
  const state: PlainMcpServer = {
    url: `http://${plainHost}:${(server.address() as AddressInfo).port}/mcp`,
    tools: [tool("find_visit", "Finds a visit.")],
    isDown: false,
    asked: 0
  }
  return state
})

export const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: "object" } })

const textOf = async (request: IncomingMessage): Promise<string> => {
  const pieces: Array<Buffer> = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString()
}
