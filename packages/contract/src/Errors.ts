// Everything that can go wrong with a request to the main API, with its status (spec: Errors; decisions 14).
// Each class encodes to the error body `{status, message, reason}`; 422 adds `errors`. A missing and a foreign
// record are the same 404. Messages are for people and hold no value a caller sent.
import { Effect, Schema } from "effect"
import { Fault, sentenceOf } from "./Fault.ts"

/** The error body on every path of the main API. */
export const ErrorBody = Schema.Struct({
  status: Schema.Int,
  message: Schema.String,
  reason: Schema.NullOr(Schema.String),
  errors: Schema.optionalKey(Schema.Array(Fault))
})
export type ErrorBody = typeof ErrorBody.Type

const body = <const S extends number>(status: S) => ({
  status: Schema.Literal(status).pipe(Schema.withConstructorDefault(Effect.succeed(status))),
  message: Schema.String,
  reason: Schema.NullOr(Schema.String).pipe(Schema.withConstructorDefault(Effect.succeed(null)))
})

/** The request is well formed and cannot be served as asked: a bad cursor, an override not allowed, malformed JSON. */
export class BadRequest extends Schema.Error<BadRequest>("BadRequest")(body(400), { httpApiStatus: 400 }) {}

/** No key, or one that is unknown or revoked. */
export class Unauthorized extends Schema.Error<Unauthorized>("Unauthorized")(body(401), { httpApiStatus: 401 }) {}

/** The record does not exist, or belongs to another workspace. */
export class NotFound extends Schema.Error<NotFound>("NotFound")(body(404), { httpApiStatus: 404 }) {}

/** The record's state does not allow it: an agent never published. */
export class Conflict extends Schema.Error<Conflict>("Conflict")(body(409), { httpApiStatus: 409 }) {}

/** A field is missing, unknown or out of its bounds. */
export class Invalid extends Schema.Error<Invalid>("Invalid")(
  { ...body(422), errors: Schema.Array(Fault) },
  { httpApiStatus: 422 }
) {}

/** The service is draining or over its limits. */
export class Unavailable extends Schema.Error<Unavailable>("Unavailable")(body(503), { httpApiStatus: 503 }) {}

export const invalid = (errors: ReadonlyArray<Fault>): Invalid => new Invalid({ message: sentenceOf(errors), errors })

export const notFound = (what: string): NotFound => new NotFound({ message: `${what} not found` })
