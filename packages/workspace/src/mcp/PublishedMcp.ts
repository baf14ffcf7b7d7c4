// The tools of MCP servers as a version is published with them. A call offers these and no others: a server that changes its words
// later changes no agent, until somebody has seen the difference and publishes again.
import { BadGateway } from "@parley/contract/Errors"
import { type McpTool, mcpToolsPerSession } from "@parley/contract/McpServer"
import { Effect } from "effect"
import type { OpenSecrets } from "../storage/SecretBox.ts"
import { canonical } from "../storage/canonicalJson.ts"
import type { SafeClient } from "../outbound/SafeClient.ts"
import { openSession } from "./McpClient.ts"
import { endpointOf, mcpClientInfo } from "./McpEndpoint.ts"
import type { RunnableMcpServer } from "./PinnedMcp.ts"

/** Whoever publishes waits for it. */
const listingMs = 5_000

/** What asking needs: a client for customers' addresses, and what opens sealed headers. */
export interface McpAsking {
  readonly http: SafeClient
  readonly secretsOf: OpenSecrets
}

/**
 * The servers with the tools they have now. One that cannot be asked keeps those of `published`, where it stood at the same
 * address; one that was never asked fails.
 */
export const withTools = (
  asking: McpAsking,
  servers: ReadonlyArray<RunnableMcpServer>,
  published: ReadonlyArray<RunnableMcpServer>
): Effect.Effect<ReadonlyArray<RunnableMcpServer>, BadGateway> =>
  Effect.forEach(
    servers,
    (server) =>
      toolsOf(asking, server).pipe(
        Effect.catch((error) => {
          const known = published.find(
            ({ definition, mcp_server_id }) =>
              mcp_server_id === server.mcp_server_id && definition.url === server.definition.url
          )
          return known?.tools === undefined ? Effect.fail(error) : Effect.succeed(known.tools)
        }),
        Effect.map((tools) => ({ ...server, tools }))
      ),
    { concurrency: "unbounded" }
  )

/** What the server answers now. */
export const toolsOf = (
  { http, secretsOf }: McpAsking,
  server: RunnableMcpServer
): Effect.Effect<ReadonlyArray<McpTool>, BadGateway> => {
  const { name, timeout_seconds } = server.definition
  const unasked = (why: string) => new BadGateway({ message: `The MCP server ${name} cannot be asked: ${why}` })
  return openSession(http, endpointOf(server, secretsOf), mcpClientInfo).pipe(
    Effect.flatMap((session) => session.listTools(mcpToolsPerSession)),
    Effect.scoped,
    Effect.mapError(({ message }) => unasked(message)),
    Effect.timeoutOrElse({
      duration: Math.min(listingMs, timeout_seconds * 1000),
      orElse: () => Effect.fail(unasked("no answer in time"))
    })
  )
}

/** How the tools of now differ from those that were published, by name. */
export const toolChanges = (published: ReadonlyArray<McpTool>, now: ReadonlyArray<McpTool>) => {
  const before = new Map(published.map((tool) => [tool.name, canonical(tool)]))
  const after = new Map(now.map((tool) => [tool.name, canonical(tool)]))
  return {
    added: [...after.keys()].filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed: [...after].filter(([name, text]) => before.has(name) && before.get(name) !== text).map(([name]) => name)
  }
}
