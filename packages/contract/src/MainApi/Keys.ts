// API keys of the caller's workspace. A key gives no other key more than it has itself.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ApiKey, ApiKeyCreate, ApiKeyCreated, ApiKeyPage, ApiKeyPatch, ApiKeyRotate } from "../ApiKey.ts"
import { BadRequest, Conflict, Invalid, NotFound } from "../Errors.ts"
import { Id } from "../Field.ts"
import { PageQuery } from "../Page.ts"
import { Authorization } from "./Authorization.ts"
import { Validation } from "./Validation.ts"

const params = { key_id: Id }

/** Endpoints of API keys. */
export class KeysApi extends HttpApiGroup.make("keys")
  .add(
    HttpApiEndpoint.get("listKeys", "/", { query: PageQuery, success: ApiKeyPage, error: BadRequest }),
    HttpApiEndpoint.post("createKey", "/", {
      payload: ApiKeyCreate,
      success: ApiKeyCreated.pipe(HttpApiSchema.status(201)),
      error: Invalid
    }),
    HttpApiEndpoint.patch("updateKey", "/:key_id", {
      params,
      payload: ApiKeyPatch,
      success: ApiKey,
      error: [NotFound, Invalid]
    }),
    HttpApiEndpoint.post("rotateKey", "/:key_id/rotate", {
      params,
      payload: [ApiKeyRotate, Schema.Null] as const,
      success: ApiKeyCreated.pipe(HttpApiSchema.status(201)),
      error: [NotFound, Conflict, Invalid]
    }),
    HttpApiEndpoint.delete("revokeKey", "/:key_id", { params, success: HttpApiSchema.NoContent, error: NotFound })
  )
  .middleware(Validation)
  .middleware(Authorization)
  .prefix("/v1/keys")
  .annotateMerge(OpenApi.annotations({ title: "API keys" })) {}
