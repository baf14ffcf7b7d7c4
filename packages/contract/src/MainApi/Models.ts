// Voice models. The same fields in four content types; the form is the one to use.
import { Schema } from "effect"
import { Multipart } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { BadRequest, Forbidden, Invalid, NotFound, TooLarge, Unavailable, UnsupportedMediaType } from "../Errors.ts"
import { Id } from "../Field.ts"
import { Done, VoiceModel, VoiceModelCreate, VoiceModelPage, VoiceModelPatch, VoiceModelQuery } from "../VoiceModel.ts"
import { Authorization } from "./Authorization.ts"
import { Validation } from "./Validation.ts"

const params = { model_id: Id }

/** MessagePack of the same fields as the JSON body, binary where JSON has base64. */
const messagePack = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/msgpack" }))

const base64 = Schema.String
const formText = Schema.optionalKey(Schema.String)
const formTexts = Schema.optionalKey(Schema.Union([Schema.String, Schema.Array(Schema.String)]))

/** Every value of a form is text. */
const formFields = {
  type: Schema.String,
  title: Schema.String,
  train_mode: Schema.String,
  visibility: formText,
  description: formText,
  texts: formTexts,
  voice_design_signatures: formTexts,
  tags: formTexts,
  enhance_audio_quality: formText,
  generate_sample: formText
}
const patchFields = { title: formText, description: formText, visibility: formText, tags: formTexts }

const json = {
  voices: Schema.Union([base64, Schema.Array(base64)]),
  cover_image: Schema.optionalKey(Schema.NullOr(base64))
}

const refusals = [BadRequest, Forbidden, NotFound, Invalid, TooLarge, UnsupportedMediaType] as const

/** Endpoints of voice models. */
export class ModelsApi extends HttpApiGroup.make("models")
  .add(
    HttpApiEndpoint.post("createModel", "/", {
      payload: [
        Schema.Struct({
          ...formFields,
          voices: Multipart.FilesSchema,
          cover_image: Schema.optionalKey(Multipart.FilesSchema)
        }).pipe(HttpApiSchema.asMultipart()),
        Schema.Struct({ ...formFields, voices: json.voices, cover_image: formText }).pipe(
          HttpApiSchema.asFormUrlEncoded()
        ),
        Schema.Struct({ ...VoiceModelCreate.fields, ...json }),
        messagePack
      ],
      success: VoiceModel.pipe(HttpApiSchema.status(201)),
      error: [...refusals, Unavailable]
    }),
    HttpApiEndpoint.get("listModels", "/", { query: VoiceModelQuery, success: VoiceModelPage, error: BadRequest }),
    HttpApiEndpoint.get("getModel", "/:model_id", { params, success: VoiceModel, error: [NotFound, Forbidden] }),
    HttpApiEndpoint.get("getModelCover", "/:model_id/cover", {
      params,
      success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "image/*" })),
      error: [NotFound, Forbidden]
    }),
    HttpApiEndpoint.get("getModelSample", "/:model_id/samples/:task_id", {
      params: { ...params, task_id: Id },
      success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "audio/mpeg" })),
      error: [NotFound, Forbidden]
    }),
    HttpApiEndpoint.patch("updateModel", "/:model_id", {
      params,
      payload: [
        Schema.Struct({ ...patchFields, cover_image: Schema.optionalKey(Multipart.FilesSchema) }).pipe(
          HttpApiSchema.asMultipart()
        ),
        Schema.Struct({ ...patchFields, cover_image: formText }).pipe(HttpApiSchema.asFormUrlEncoded()),
        Schema.Struct({ ...VoiceModelPatch.fields, cover_image: json.cover_image }),
        messagePack
      ],
      success: Done,
      error: refusals
    }),
    HttpApiEndpoint.delete("deleteModel", "/:model_id", { params, success: Done, error: [NotFound, Forbidden] })
  )
  .middleware(Validation)
  .middleware(Authorization)
  .prefix("/model")
  .annotateMerge(OpenApi.annotations({ title: "Voice models" })) {}
