// Agents, their configuration and their versions.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import {
  Agent,
  AgentCreate,
  AgentDuplicate,
  AgentPage,
  AgentPatch,
  Publish,
  Version,
  VersionPage,
  VersionSummary
} from "../Agent.ts"
import { ConfigPatch, ReturnedConfig } from "../AgentConfig/AgentConfig.ts"
import { BadGateway, BadRequest, Conflict, Invalid, NotFound, PaymentRequired } from "../Errors.ts"
import { Id, text } from "../Field.ts"
import { PageQuery, queryBoolean } from "../Page.ts"
import { SessionTicket } from "../Session.ts"
import { PreviewCreate } from "../SessionRequest.ts"
import { Authorization } from "./Authorization.ts"
import { Validation } from "./Validation.ts"

const params = { agent_id: Id }
/** A body that may be missing altogether. */
const optionalBody = <S extends Schema.Top>(schema: S) => [schema, Schema.Null] as const

/** Endpoints of agents, configurations and versions. */
export class AgentsApi extends HttpApiGroup.make("agents")
  .add(
    HttpApiEndpoint.get("listAgents", "/", {
      query: {
        search: Schema.optionalKey(text(256)),
        include_archived: queryBoolean,
        publication_state: Schema.optionalKey(Schema.Literals(["all", "live", "draft"])),
        ...PageQuery
      },
      success: AgentPage,
      error: BadRequest
    }),
    HttpApiEndpoint.post("createAgent", "/", {
      payload: AgentCreate,
      success: Agent.pipe(HttpApiSchema.status(201)),
      error: [BadRequest, Invalid]
    }),
    HttpApiEndpoint.get("getAgent", "/:agent_id", { params, success: Agent, error: NotFound }),
    HttpApiEndpoint.patch("updateAgent", "/:agent_id", {
      params,
      payload: AgentPatch,
      success: Agent,
      error: [NotFound, Invalid]
    }),
    HttpApiEndpoint.delete("deleteAgent", "/:agent_id", {
      params,
      success: HttpApiSchema.NoContent,
      error: NotFound
    }),
    HttpApiEndpoint.get("getAgentConfig", "/:agent_id/config", { params, success: ReturnedConfig, error: NotFound }),
    HttpApiEndpoint.patch("updateAgentConfig", "/:agent_id/config", {
      params,
      payload: ConfigPatch,
      success: ReturnedConfig,
      error: [NotFound, BadRequest, Invalid]
    }),
    HttpApiEndpoint.post("publishAgent", "/:agent_id/publish", {
      params,
      payload: optionalBody(Publish),
      success: VersionSummary,
      error: [NotFound, Conflict, BadGateway]
    }),
    HttpApiEndpoint.get("listAgentVersions", "/:agent_id/versions", {
      params,
      query: PageQuery,
      success: VersionPage,
      error: [NotFound, BadRequest]
    }),
    HttpApiEndpoint.get("getAgentVersion", "/:agent_id/versions/:version_number", {
      params: { ...params, version_number: Id },
      success: Version,
      error: NotFound
    }),
    HttpApiEndpoint.post("duplicateAgent", "/:agent_id/duplicate", {
      params,
      payload: optionalBody(AgentDuplicate),
      success: Agent.pipe(HttpApiSchema.status(201)),
      error: NotFound
    }),
    HttpApiEndpoint.post("createPreviewSession", "/:agent_id/preview-sessions", {
      params,
      payload: optionalBody(PreviewCreate),
      success: SessionTicket.pipe(HttpApiSchema.status(201)),
      error: [NotFound, BadRequest, Invalid, PaymentRequired]
    })
  )
  .middleware(Validation)
  .middleware(Authorization)
  .prefix("/v1/agent/agents")
  .annotateMerge(OpenApi.annotations({ title: "Agents" })) {}
