// Knowledge sources over HTTP: a form with a file in, records out.
import { BadRequest, TooLarge, UnsupportedMediaType } from "@parley/contract/Errors"
import { KnowledgeFields, knowledgeFileBytes } from "@parley/contract/KnowledgeSource"
import { Caller } from "@parley/contract/MainApi/Authorization"
import { MainApi } from "@parley/contract/MainApi/MainApi"
import { readDocument } from "@parley/workspace/knowledge/KnowledgeDocument"
import { KnowledgeSources } from "@parley/workspace/knowledge/KnowledgeSources"
import { Effect, FileSystem, Result } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { decodeFields, readFieldsAndFiles } from "./body/FieldsAndFiles.ts"
import type { BodyFile } from "./body/MultipartForm.ts"

/** The file, the longest other fields, and what a form adds. */
const bodyLimit = knowledgeFileBytes + 64 * 1024

export const layer = HttpApiBuilder.group(
  MainApi,
  "knowledgeSources",
  Effect.fnUntraced(function* (handlers) {
    const sources = yield* KnowledgeSources
    const workspace = Effect.map(Caller, ({ workspaceId }) => workspaceId)

    return handlers
      .handle("listKnowledgeSources", ({ query }) =>
        Effect.flatMap(workspace, (ws) => sources.list(ws, query)).pipe(
          Effect.map(({ items, ...page }) => ({ knowledge_sources: items, ...page }))
        )
      )
      .handleRaw("createKnowledgeSource", () =>
        Effect.gen(function* () {
          const { document, ...rest } = yield* upload
          if (document === undefined) return yield* new BadRequest({ message: "source is required" })
          return yield* sources.create(yield* workspace, { ...rest, document })
        })
      )
      .handle("getKnowledgeSource", ({ params }) =>
        Effect.flatMap(workspace, (ws) => sources.get(ws, params.source_id))
      )
      .handleRaw("updateKnowledgeSource", ({ params }) =>
        Effect.gen(function* () {
          const change = yield* upload
          return yield* sources.update(yield* workspace, params.source_id, change)
        })
      )
      .handle("deleteKnowledgeSource", ({ params }) =>
        Effect.flatMap(workspace, (ws) => sources.remove(ws, params.source_id))
      )
      .handle("listKnowledgeSourceAgents", ({ params }) =>
        Effect.flatMap(workspace, (ws) => sources.agents(ws, params.source_id))
      )
  })
)

const upload = Effect.gen(function* () {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const type = (headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase()
  if (type !== "multipart/form-data") return yield* new UnsupportedMediaType({ message: "Unsupported content type" })
  const body = yield* readFieldsAndFiles(["source"], bodyLimit)
  const { description, name } = yield* decodeFields(KnowledgeFields, body, [])
  const files = body.files.get("source") ?? []
  if (files.length > 1 || body.fields.has("source")) {
    return yield* new BadRequest({ message: "source must be one file" })
  }
  const document = files[0] === undefined ? undefined : yield* documentOf(files[0])
  return { name, description, document }
})

const documentOf = Effect.fnUntraced(function* ({ file, filename }: BodyFile) {
  const system = yield* FileSystem.FileSystem
  const bytes = yield* Effect.orDie(system.readFile(file))
  if (bytes.length > knowledgeFileBytes) return yield* new TooLarge({ message: "source must be at most 1 MB" })
  const document = readDocument(filename, bytes)
  return Result.isSuccess(document) ? document.success : yield* new BadRequest({ message: document.failure })
})
