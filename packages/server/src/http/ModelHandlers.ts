// Voice models over HTTP: four content types in, one answer out.
import { invalid, Unavailable } from "@parley/contract/Errors"
import { fault } from "@parley/contract/Fault"
import { Caller } from "@parley/contract/MainApi/Authorization"
import { MainApi } from "@parley/contract/MainApi/MainApi"
import { mostVoices, VoiceModelCreate, VoiceModelPatch } from "@parley/contract/VoiceModel"
import { Blobs } from "@parley/workspace/storage/Blobs"
import { keepCover } from "@parley/workspace/voices/VoiceCover"
import { tagsOf } from "@parley/workspace/voices/voiceFields"
import { VoiceModels } from "@parley/workspace/voices/VoiceModels"
import { VoiceTraining } from "@parley/workspace/voices/VoiceTraining"
import { Effect, Option, Semaphore } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { decodeFields, readFieldsAndFiles } from "./body/FieldsAndFiles.ts"
import type { BodyFile } from "./body/MultipartForm.ts"

/** Largest request with recordings and cover: 100 MiB, else 413. */
const bodyLimit = 100 * 2 ** 20
const fileNames = ["voices", "cover_image"]
/** Models being made at the same time, by all callers together. */
const mostAtOnce = 8
const done = { status: "ok" as const }

export const layer = HttpApiBuilder.group(
  MainApi,
  "models",
  Effect.fnUntraced(function* (handlers) {
    const blobs = yield* Blobs
    const models = yield* VoiceModels
    const training = yield* VoiceTraining
    const permits = yield* Semaphore.make(mostAtOnce)
    const workspace = Effect.map(Caller, ({ workspaceId }) => workspaceId)

    return handlers
      .handleRaw("createModel", () =>
        Effect.gen(function* () {
          const ws = yield* workspace
          const body = yield* readFieldsAndFiles(fileNames, bodyLimit)
          const fields = yield* decodeFields(VoiceModelCreate, body, ["enhance_audio_quality", "generate_sample"])
          const [first, ...rest] = body.files.get("voices") ?? []
          if (first === undefined) return yield* badVoices("field required", "missing")
          if (rest.length >= mostVoices)
            return yield* badVoices(`must have at most ${mostVoices} entries`, "value_error")
          const cover = yield* coverOf(body.files.get("cover_image"))
          const made = yield* permits.withPermitsIfAvailable(1)(training.create(ws, fields, [first, ...rest], cover))
          if (Option.isSome(made)) return made.value
          return yield* new Unavailable({ message: "Too many voice models are being made; try again shortly" })
        })
      )
      .handle("listModels", ({ query }) => Effect.flatMap(workspace, (ws) => models.list(ws, query)))
      .handle("getModel", ({ params }) => Effect.flatMap(workspace, (ws) => models.get(ws, params.model_id)))
      .handleRaw("getModelCover", ({ params }) =>
        Effect.gen(function* () {
          const { path, type } = yield* models.cover(yield* workspace, params.model_id)
          return yield* stored(path, type)
        })
      )
      .handleRaw("getModelSample", ({ params }) =>
        Effect.gen(function* () {
          return yield* stored(yield* models.sample(yield* workspace, params.model_id, params.task_id), "audio/mpeg")
        })
      )
      .handleRaw("updateModel", ({ params }) =>
        Effect.gen(function* () {
          const ws = yield* workspace
          const body = yield* readFieldsAndFiles(fileNames, bodyLimit)
          const { description, tags, ...rest } = yield* decodeFields(VoiceModelPatch, body, [])
          const tagList = tags === undefined ? undefined : yield* tagsOf(tags)
          const picture = yield* coverOf(body.files.get("cover_image"))
          yield* models.get(ws, params.model_id)
          const cover = picture === undefined ? undefined : yield* keepCover(blobs, picture)
          yield* models
            .update(ws, params.model_id, {
              ...rest,
              description: description === null ? "" : description,
              tags: tagList,
              cover
            })
            .pipe(Effect.tapError(() => (cover === undefined ? Effect.void : blobs.remove([cover.blob]))))
          return done
        })
      )
      .handle("deleteModel", ({ params }) =>
        Effect.flatMap(workspace, (ws) => models.remove(ws, params.model_id)).pipe(Effect.as(done))
      )
  })
)

const stored = (path: string, contentType: string) =>
  HttpServerResponse.file(path, {
    contentType,
    headers: { "x-content-type-options": "nosniff", "cache-control": "private, max-age=60" }
  }).pipe(Effect.orDie)

const badVoices = (message: string, type: string) => invalid([fault(["body", "voices"], message, type)])

const coverOf = (files: ReadonlyArray<BodyFile> | undefined) =>
  files !== undefined && files.length > 1
    ? Effect.fail(invalid([fault(["body", "cover_image"], "must be one file")]))
    : Effect.succeed(files?.[0]?.file)
