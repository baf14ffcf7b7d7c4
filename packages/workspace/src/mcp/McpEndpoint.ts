// Where a call, or whoever publishes an agent, reaches an MCP server.
import type { McpEndpoint } from "@parley/contract/McpServer"
import type { OpenSecrets } from "../storage/SecretBox.ts"
import { secretOwner } from "../storage/SecretOwner.ts"
import { sentHeaders } from "../tools/SealedHeaders.ts"
import type { RunnableMcpServer } from "./PinnedMcp.ts"

/** How the service introduces itself. */
export const mcpClientInfo = { name: "parley", version: "1" }

/** A server as it is asked, with its headers in the clear. */
export const endpointOf = ({ definition, mcp_server_id }: RunnableMcpServer, secretsOf: OpenSecrets): McpEndpoint => ({
  id: mcp_server_id,
  url: definition.url,
  headers: sentHeaders(definition.headers).map(({ name, value }) => ({
    name,
    value: secretsOf(secretOwner.mcpServer(mcp_server_id)).open(value)
  })),
  timeoutMs: definition.timeout_seconds * 1000
})
