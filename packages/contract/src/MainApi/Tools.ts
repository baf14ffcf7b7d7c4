// Tools of the workspace.
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { BadRequest, Conflict, Invalid, NotFound } from "../Errors.ts"
import { Id } from "../Field.ts"
import { Tool, ToolAgents, ToolCreate, ToolPage, ToolPatch, ToolQuery, ToolTest, ToolTestResult } from "../Tool.ts"
import { Authorization } from "./Authorization.ts"
import { Validation } from "./Validation.ts"

const params = { tool_id: Id }

/** Endpoints of tools. */
export class ToolsApi extends HttpApiGroup.make("tools")
  .add(
    HttpApiEndpoint.get("listTools", "/", { query: ToolQuery, success: ToolPage, error: BadRequest }),
    HttpApiEndpoint.post("createTool", "/", {
      payload: ToolCreate,
      success: Tool.pipe(HttpApiSchema.status(201)),
      error: Invalid
    }),
    HttpApiEndpoint.get("getTool", "/:tool_id", { params, success: Tool, error: NotFound }),
    HttpApiEndpoint.patch("updateTool", "/:tool_id", {
      params,
      payload: ToolPatch,
      success: Tool,
      error: [NotFound, BadRequest, Invalid]
    }),
    HttpApiEndpoint.delete("deleteTool", "/:tool_id", {
      params,
      success: HttpApiSchema.NoContent,
      error: [NotFound, Conflict]
    }),
    HttpApiEndpoint.get("listToolAgents", "/:tool_id/agents", { params, success: ToolAgents, error: NotFound }),
    HttpApiEndpoint.post("testTool", "/:tool_id/test", {
      params,
      payload: ToolTest,
      success: ToolTestResult,
      error: [NotFound, BadRequest]
    })
  )
  .middleware(Validation)
  .middleware(Authorization)
  .prefix("/v1/agent/tools")
  .annotateMerge(OpenApi.annotations({ title: "Tools" })) {}
