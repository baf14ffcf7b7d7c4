// Knowledge sources of the workspace. Files come as multipart forms only.
import { Schema } from "effect"
import { Multipart } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { BadRequest, Conflict, Invalid, NotFound, TooLarge, UnsupportedMediaType } from "../Errors.ts"
import { Id } from "../Field.ts"
import {
  KnowledgeFields,
  KnowledgeSource,
  KnowledgeSourceAgents,
  KnowledgeSourceDetail,
  KnowledgeSourcePage,
  KnowledgeSourceQuery
} from "../KnowledgeSource.ts"
import { Authorization } from "./Authorization.ts"
import { Validation } from "./Validation.ts"

const params = { source_id: Id }
const refusals = [BadRequest, Invalid, TooLarge, UnsupportedMediaType] as const

/** Endpoints of knowledge sources. */
export class KnowledgeSourcesApi extends HttpApiGroup.make("knowledgeSources")
  .add(
    HttpApiEndpoint.get("listKnowledgeSources", "/", {
      query: KnowledgeSourceQuery,
      success: KnowledgeSourcePage,
      error: BadRequest
    }),
    HttpApiEndpoint.post("createKnowledgeSource", "/", {
      payload: Schema.Struct({ ...KnowledgeFields.fields, source: Multipart.FilesSchema }).pipe(
        HttpApiSchema.asMultipart()
      ),
      success: KnowledgeSource.pipe(HttpApiSchema.status(201)),
      error: refusals
    }),
    HttpApiEndpoint.get("getKnowledgeSource", "/:source_id", {
      params,
      success: KnowledgeSourceDetail,
      error: NotFound
    }),
    HttpApiEndpoint.patch("updateKnowledgeSource", "/:source_id", {
      params,
      payload: Schema.Struct({
        ...KnowledgeFields.fields,
        source: Schema.optionalKey(Multipart.FilesSchema)
      }).pipe(HttpApiSchema.asMultipart()),
      success: KnowledgeSource,
      error: [...refusals, NotFound]
    }),
    HttpApiEndpoint.delete("deleteKnowledgeSource", "/:source_id", {
      params,
      success: HttpApiSchema.NoContent,
      error: [NotFound, Conflict]
    }),
    HttpApiEndpoint.get("listKnowledgeSourceAgents", "/:source_id/agents", {
      params,
      success: KnowledgeSourceAgents,
      error: NotFound
    })
  )
  .middleware(Validation)
  .middleware(Authorization)
  .prefix("/v1/agent/knowledge-sources")
  .annotateMerge(OpenApi.annotations({ title: "Knowledge sources" })) {}
