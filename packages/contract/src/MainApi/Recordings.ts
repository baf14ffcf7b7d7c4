// The sound of a recorded track, by a signed address and without a key, so that an audio player can fetch it.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Forbidden, NotFound } from "../Errors.ts"
import { text } from "../Field.ts"
import { Validation } from "./Validation.ts"

/** Endpoints of recordings. */
export class RecordingsApi extends HttpApiGroup.make("recordings")
  .add(
    HttpApiEndpoint.get("getRecordingFile", "/:file", {
      params: { file: text(512) },
      success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "audio/ogg" })),
      error: [Forbidden, NotFound]
    })
  )
  .middleware(Validation)
  .prefix("/v1/agent/recordings")
  .annotateMerge(OpenApi.annotations({ title: "Recordings" })) {}
