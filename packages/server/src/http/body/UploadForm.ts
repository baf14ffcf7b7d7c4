// A body with files in it, as a form or as MessagePack: files lie in a folder that goes with the request, fields are
// what was sent. Whatever its size, a file is never in memory.
import { BadRequest, type TooLarge, UnsupportedMediaType } from "@parley/contract/Errors"
import { ByteSize, Effect, FileSystem, type Path, Result, type Scope, Stream } from "effect"
import { HttpIncomingMessage, HttpServerRequest } from "effect/http"
import { createReadStream, createWriteStream } from "node:fs"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { readMultipart } from "./MultipartForm.ts"
import { bodyError, withinLimit } from "./RequestBytes.ts"
import { type BinaryPlace, readFlatMap, type Scalar } from "./MessagePackFile.ts"

/** Fields and files of the body, by name. */
export interface UploadForm {
  /** In the order they came. Values of a multipart form are text. */
  readonly fields: ReadonlyMap<string, ReadonlyArray<Scalar>>
  /** Paths. */
  readonly files: ReadonlyMap<string, ReadonlyArray<string>>
}

type Needs = FileSystem.FileSystem | HttpServerRequest.HttpServerRequest | Path.Path | Scope.Scope
type BodyError = BadRequest | TooLarge | UnsupportedMediaType

/** At most `bytes` in all. */
export const readForm = (bytes: number): Effect.Effect<UploadForm, BodyError, Needs> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const type = (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase()
    const form =
      type === "multipart/form-data"
        ? multipart(request, bytes)
        : type === "application/msgpack"
          ? messagePack(request, bytes)
          : Effect.fail(new UnsupportedMediaType({ message: "Unsupported content type" }))
    return form.pipe(Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(bytes)))
  })

const multipart = (request: HttpServerRequest.HttpServerRequest, bytes: number) =>
  Effect.map(readMultipart(request, bytes), ({ files, texts }): UploadForm => ({
    fields: texts,
    files: new Map([...files].map(([name, found]) => [name, found.map(({ file }) => file)]))
  }))

const messagePack = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  bytes: number
): Effect.fn.Return<UploadForm, BodyError, Needs> {
  yield* withinLimit(request, bytes)
  const files = yield* FileSystem.FileSystem
  const folder = yield* Effect.orDie(files.makeTempDirectoryScoped({ prefix: "parley-body-" }))
  const body = join(folder, "body")
  yield* request.stream.pipe(
    Stream.run(files.sink(body)),
    Effect.catchTag("HttpServerError", (error) => Effect.fail(bodyError(error.reason, bytes))),
    Effect.catchTag("PlatformError", Effect.die)
  )
  const map = readFlatMap(body)
  if (Result.isFailure(map)) return yield* new BadRequest({ message: "Malformed MessagePack" })
  const { binaries, values } = map.success
  const cut = yield* Effect.forEach([...binaries], ([name, place], i) =>
    Effect.as(
      Effect.promise(() => copyRange(body, place, join(folder, `${i}`))),
      [name, [join(folder, `${i}`)]] as const
    )
  )
  return { fields: new Map([...values].map(([name, value]) => [name, [value]])), files: new Map(cut) }
})

const copyRange = (from: string, { length, offset }: BinaryPlace, to: string): Promise<void> =>
  pipeline(
    length === 0 ? [] : createReadStream(from, { start: offset, end: offset + length - 1 }),
    createWriteStream(to)
  )
