// A multipart form: texts as they came, files in a folder that goes with the request.
import { BadRequest, type TooLarge } from "@parley/contract/Errors"
import { Effect, type FileSystem, type Path, type Scope } from "effect"
import { type HttpServerRequest, Multipart } from "effect/http"
import { tooLarge, withinLimit } from "./RequestBytes.ts"

/** A file of the body, in a folder that is removed with the request. */
export interface BodyFile {
  /** The sender's name for it; may be empty. */
  readonly filename: string
  /** Path of the bytes. */
  readonly file: string
}

/** Texts and files by the names of their parts, in the order they came. */
export interface MultipartForm {
  readonly texts: ReadonlyMap<string, ReadonlyArray<string>>
  readonly files: ReadonlyMap<string, ReadonlyArray<BodyFile>>
}

/** At most `bytes` in all. */
export const readMultipart = (
  request: HttpServerRequest.HttpServerRequest,
  bytes: number
): Effect.Effect<MultipartForm, BadRequest | TooLarge, FileSystem.FileSystem | Path.Path | Scope.Scope> =>
  withinLimit(request, bytes).pipe(Effect.andThen(multipartOf(request, bytes)))

const multipartOf = (request: HttpServerRequest.HttpServerRequest, bytes: number) =>
  request.multipart.pipe(
    Effect.provideContext(Multipart.limitsServices({ maxParts: 200, maxFieldSize: "1 MiB", maxTotalSize: bytes })),
    Effect.mapError((error) =>
      error.reason._tag === "Parse" || error.reason._tag === "InternalError"
        ? new BadRequest({ message: "Malformed form" })
        : tooLarge(bytes)
    ),
    Effect.map((parts) => {
      const texts = new Map<string, ReadonlyArray<string>>()
      const files = new Map<string, ReadonlyArray<BodyFile>>()
      for (const [name, value] of Object.entries(parts)) {
        const values = typeof value === "string" ? [value] : value
        const said = values.filter((one) => typeof one === "string")
        const found = values.flatMap((one) => (typeof one === "string" ? [] : [{ filename: one.name, file: one.path }]))
        if (said.length > 0) texts.set(name, said)
        if (found.length > 0) files.set(name, found)
      }
      return { texts, files }
    })
  )
