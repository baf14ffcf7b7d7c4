// Everything that can go wrong with a request to the main API, with its status.
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

/** No key, or one that is unknown, expired or revoked. */
export class Unauthorized extends Schema.Error<Unauthorized>("Unauthorized")(body(401), { httpApiStatus: 401 }) {}

/** The trial balance and every top-up are spent. */
export class PaymentRequired extends Schema.Error<PaymentRequired>("PaymentRequired")(body(402), {
  httpApiStatus: 402
}) {}

/** The record exists and is not the caller's to see, or the key lacks the scope that the request needs. */
export class Forbidden extends Schema.Error<Forbidden>("Forbidden")(body(403), { httpApiStatus: 403 }) {}

/** The record does not exist, or belongs to another workspace. */
export class NotFound extends Schema.Error<NotFound>("NotFound")(body(404), { httpApiStatus: 404 }) {}

/** The record's state does not allow it: an agent never published. */
export class Conflict extends Schema.Error<Conflict>("Conflict")(body(409), { httpApiStatus: 409 }) {}

/** The body, or a file in it, is larger than what is taken. */
export class TooLarge extends Schema.Error<TooLarge>("TooLarge")(body(413), { httpApiStatus: 413 }) {}

/** A content type this path does not take. */
export class UnsupportedMediaType extends Schema.Error<UnsupportedMediaType>("UnsupportedMediaType")(body(415), {
  httpApiStatus: 415
}) {}

/** A field is missing, unknown or out of its bounds. */
export class Invalid extends Schema.Error<Invalid>("Invalid")(
  { ...body(422), errors: Schema.Array(Fault) },
  { httpApiStatus: 422 }
) {}

/** More at the same time than the account may. */
export class TooManyRequests extends Schema.Error<TooManyRequests>("TooManyRequests")(
  { ...body(429), max_concurrency: Schema.optionalKey(Schema.Int) },
  { httpApiStatus: 429 }
) {}

/** An engine the service was told to use failed. */
export class BadGateway extends Schema.Error<BadGateway>("BadGateway")(body(502), { httpApiStatus: 502 }) {}

/** The service is draining or over its limits. */
export class Unavailable extends Schema.Error<Unavailable>("Unavailable")(body(503), { httpApiStatus: 503 }) {}

/** 422 with these fields; the message names the first. */
export const invalid = (errors: ReadonlyArray<Fault>): Invalid => new Invalid({ message: sentenceOf(errors), errors })

/** 404: `what` is the noun, "Agent". */
export const notFound = (what: string): NotFound => new NotFound({ message: `${what} not found` })
