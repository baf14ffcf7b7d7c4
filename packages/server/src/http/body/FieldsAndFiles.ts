// The same fields and files in four content types, for POST and PATCH /model: a form with file parts, a form whose files are
// base64 text, JSON with base64, MessagePack with binary. However it came, fields are plain values not yet checked,
// and files lie in a folder that goes with the request.
import { BadRequest, type Invalid, invalid, type TooLarge, UnsupportedMediaType } from "@parley/contract/Errors"
import { fault, faultsOf } from "@parley/contract/Fault"
import { Effect, FileSystem, type Path, Result, Schema, type Scope } from "effect"
import { HttpServerRequest } from "effect/http"
import { join } from "node:path"
import { MessagePack } from "./MessagePack.ts"
import { type BodyFile, readMultipart } from "./MultipartForm.ts"
import { bodyBytes, parseJson } from "./RequestBytes.ts"

/** A body, not yet checked against a schema. */
export interface FieldsAndFiles {
  /** A repeated field of a form is a list. */
  readonly fields: ReadonlyMap<string, unknown>
  readonly files: ReadonlyMap<string, ReadonlyArray<BodyFile>>
  /** Every value of a form is text. */
  readonly form: boolean
}

type BodyError = BadRequest | Invalid | TooLarge | UnsupportedMediaType
type Needs = FileSystem.FileSystem | HttpServerRequest.HttpServerRequest | Path.Path | Scope.Scope

/** Reading these stops the thread that live calls are served by, for as long as it takes. */
const inMemoryLimit = 32 * 2 ** 20

/**
 * `names`: the fields that are files. A form with file parts may have `bytes` in all; the other types, which are
 * read as a whole, at most 32 MiB. No body at all has no fields.
 */
export const readFieldsAndFiles = (
  names: ReadonlyArray<string>,
  bytes: number
): Effect.Effect<FieldsAndFiles, BodyError, Needs> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const whole = bodyBytes(request, Math.min(bytes, inMemoryLimit))
    const type = (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""
    switch (type) {
      case "multipart/form-data":
        return multipart(request, bytes)
      case "application/x-www-form-urlencoded":
        return Effect.flatMap(Effect.flatMap(whole, urlEncoded), (values) => laidOut(values, names, true))
      case "application/json":
        return Effect.flatMap(whole, (body) =>
          Effect.flatMap(Effect.flatMap(parseJson(body), record), (values) => laidOut(values, names, false))
        )
      case "application/msgpack":
      case "application/x-msgpack":
        return Effect.flatMap(whole, (body) => {
          const value = MessagePack.decode(body)
          return Result.isFailure(value)
            ? Effect.fail(new BadRequest({ message: "Malformed MessagePack" }))
            : Effect.flatMap(record(value.success), (values) => laidOut(values, names, false))
        })
      case "":
        return Effect.flatMap(whole, (body) =>
          body.length === 0
            ? Effect.succeed<FieldsAndFiles>({ fields: new Map(), files: new Map(), form: false })
            : Effect.fail(new UnsupportedMediaType({ message: "Unsupported content type" }))
        )
      default:
        return Effect.fail(new UnsupportedMediaType({ message: "Unsupported content type" }))
    }
  })

/** What the schema makes of the fields; those it does not know are left aside. In forms, `flags` are booleans. */
export const decodeFields = <A>(
  schema: Schema.Codec<A, unknown>,
  { fields, form }: FieldsAndFiles,
  flags: ReadonlyArray<string>
): Effect.Effect<A, Invalid> => {
  const values = Object.fromEntries(
    [...fields].map(([name, value]) => [name, form && flags.includes(name) ? flagOf(value) : value])
  )
  const decoded = Schema.decodeUnknownResult(schema)(values, { errors: "all" })
  return Result.isSuccess(decoded)
    ? Effect.succeed(decoded.success)
    : Effect.fail(invalid(faultsOf(decoded.failure.issue, "body")))
}

const multipart = (
  request: HttpServerRequest.HttpServerRequest,
  bytes: number
): Effect.Effect<FieldsAndFiles, BodyError, Needs> =>
  Effect.map(readMultipart(request, bytes), ({ files, texts }) => ({
    fields: new Map([...texts].map(([name, values]) => [name, values.length === 1 ? values[0] : values])),
    files,
    form: true
  }))

const mostPairs = 1000

/** Pairs are counted before they are made. */
const urlEncoded = (body: Uint8Array): Effect.Effect<ReadonlyMap<string, unknown>, BadRequest> => {
  let pairs = 1
  for (const byte of body) if (byte === 0x26) pairs++
  if (pairs > mostPairs) return Effect.fail(new BadRequest({ message: "Too many form fields" }))
  const values = new Map<string, ReadonlyArray<string>>()
  for (const [name, value] of new URLSearchParams(new TextDecoder().decode(body))) {
    values.set(name, [...(values.get(name) ?? []), value])
  }
  return Effect.succeed(new Map([...values].map(([name, list]) => [name, list.length === 1 ? list[0] : list])))
}

const record = (value: unknown): Effect.Effect<ReadonlyMap<string, unknown>, BadRequest> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
    ? Effect.succeed(new Map(Object.entries(value)))
    : Effect.fail(new BadRequest({ message: "The body must be an object" }))

/** Files out of the values, into a folder. */
const laidOut = Effect.fnUntraced(function* (
  values: ReadonlyMap<string, unknown>,
  names: ReadonlyArray<string>,
  form: boolean
): Effect.fn.Return<FieldsAndFiles, Invalid, FileSystem.FileSystem | Scope.Scope> {
  const system = yield* FileSystem.FileSystem
  const folder = yield* Effect.orDie(system.makeTempDirectoryScoped({ prefix: "parley-body-" }))
  const fields = new Map(values)
  const files = new Map<string, ReadonlyArray<BodyFile>>()
  for (const name of names) {
    const value = values.get(name)
    fields.delete(name)
    if (value === undefined || value === null || value === "") continue
    const list: Array<BodyFile> = []
    for (const [i, one] of (Array.isArray(value) ? value : [value]).entries()) {
      const bytes = bytesOf(one)
      if (bytes === undefined) {
        const loc = Array.isArray(value) ? ["body", name, i] : ["body", name]
        return yield* invalid([
          fault(loc, "must be a file: base64 text, or binary where there is such a thing", "type_error")
        ])
      }
      const file = join(folder, `${name}-${i}`)
      yield* Effect.orDie(system.writeFile(file, bytes))
      list.push({ filename: "", file })
    }
    files.set(name, list)
  }
  return { fields, files, form }
})

const bytesOf = (value: unknown): Uint8Array | undefined => {
  if (value instanceof Uint8Array) return value
  if (typeof value !== "string") return undefined
  const base64 = value.startsWith("data:") ? value.slice(value.indexOf(",") + 1) : value
  // A form that does not escape its plus signs sends spaces.
  const clean = base64.replace(/[\r\n]/g, "").replaceAll(" ", "+")
  return clean !== "" && isBase64(clean) ? Buffer.from(clean, "base64") : undefined
}

/** Both alphabets, with or without padding. */
const isBase64 = (value: string): boolean =>
  /^[A-Za-z0-9+/_-]+={0,2}$/.test(value) && value.replace(/=+$/, "").length % 4 !== 1

const flagOf = (value: unknown): unknown => {
  const word = typeof value === "string" ? value.toLowerCase() : undefined
  return word === "true" || word === "1" ? true : word === "false" || word === "0" ? false : value
}
