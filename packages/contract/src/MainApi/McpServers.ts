// MCP servers of the workspace.
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { BadGateway, BadRequest, Conflict, Invalid, NotFound } from "../Errors.ts"
import { Id } from "../Field.ts"
import {
  McpServer,
  McpServerCreate,
  McpServerPage,
  McpServerPatch,
  McpServerQuery,
  McpServerTools
} from "../McpServer.ts"
import { Authorization } from "./Authorization.ts"
import { Validation } from "./Validation.ts"

const params = { mcp_server_id: Id }

/** Endpoints of MCP servers. */
export class McpServersApi extends HttpApiGroup.make("mcpServers")
  .add(
    HttpApiEndpoint.get("listMcpServers", "/", { query: McpServerQuery, success: McpServerPage, error: BadRequest }),
    HttpApiEndpoint.post("createMcpServer", "/", {
      payload: McpServerCreate,
      success: McpServer.pipe(HttpApiSchema.status(201)),
      error: Invalid
    }),
    HttpApiEndpoint.get("getMcpServer", "/:mcp_server_id", { params, success: McpServer, error: NotFound }),
    HttpApiEndpoint.patch("updateMcpServer", "/:mcp_server_id", {
      params,
      payload: McpServerPatch,
      success: McpServer,
      error: [NotFound, Invalid]
    }),
    HttpApiEndpoint.delete("deleteMcpServer", "/:mcp_server_id", {
      params,
      success: HttpApiSchema.NoContent,
      error: [NotFound, Conflict]
    }),
    HttpApiEndpoint.get("listMcpServerTools", "/:mcp_server_id/tools", {
      params,
      success: McpServerTools,
      error: [NotFound, BadGateway]
    })
  )
  .middleware(Validation)
  .middleware(Authorization)
  .prefix("/v1/agent/mcp-servers")
  .annotateMerge(OpenApi.annotations({ title: "MCP servers" })) {}
