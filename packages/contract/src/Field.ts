// The building blocks of request schemas: bounded text, bounded numbers, fields with a default.
// Text that PostgreSQL cannot store (NUL, lone surrogates) is refused here, once, for every field.
// Check messages never quote the value: they go into error bodies.
import { Effect, Schema } from "effect"

const storable = Schema.makeFilter((value: string) =>
  value.isWellFormed() && !value.includes("\0") ? undefined : "must be valid Unicode text without NUL characters"
)

/** A string of at most `max` UTF-16 units. */
export const text = (max: number) =>
  Schema.String.check(Schema.isMaxLength(max, { message: `must be at most ${max} characters` }), storable)

/** Text of so many characters (UTF-16 units). */
export const textBetween = (min: number, max: number) =>
  text(max).check(Schema.isMinLength(min, { message: `must be at least ${min} characters` }))

/** Text of a form, with the words for what does not fit. */
export const textMatching = (pattern: RegExp, max: number, message: string) =>
  text(max).check(Schema.isPattern(pattern, { message }))

const between = (minimum: number, maximum: number) =>
  Schema.isBetween({ minimum, maximum }, { message: `must be between ${minimum} and ${maximum}` })

/** A finite number, bounds included. */
export const numberBetween = (minimum: number, maximum: number) => Schema.Finite.check(between(minimum, maximum))

/** A whole number, bounds included. */
export const wholeBetween = (minimum: number, maximum: number) =>
  Schema.Finite.check(Schema.isInt({ message: "must be a whole number" }), between(minimum, maximum))

/** A list of at most `max` entries. */
export const listOf = <S extends Schema.Top>(item: S, max: number) =>
  Schema.Array(item).check(Schema.isMaxLength(max, { message: `must have at most ${max} entries` }))

/** The key may be left out and then has this value; an explicit null is refused unless the schema takes it. */
export const defaulted = <S extends Schema.Top>(schema: S, value: S["Encoded"]) =>
  schema.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value)))

/** What may stand for an id in a path. Anything else cannot be one of ours. */
export const Id = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_.-]{1,128}$/))

/** A point in time in a query: ISO 8601. */
export const moment = Schema.String.check(
  Schema.makeFilter(
    (value: string) =>
      (/^\d{4}-\d{2}-\d{2}/.test(value) && !Number.isNaN(Date.parse(value))) || "must be an ISO 8601 date-time"
  )
)

/** A JSON object whose serialised form is at most `maxBytes`. */
export const jsonObject = (maxBytes: number) =>
  Schema.Record(Schema.String, Schema.Json).check(
    Schema.makeFilter((value) => {
      const json = JSON.stringify(value)
      return json.length * 3 <= maxBytes || utf8Length(json) <= maxBytes || `must be at most ${maxBytes} bytes of JSON`
    })
  )

/** Bytes of the text in UTF-8. */
export const utf8Length = (value: string): number => {
  let bytes = 0
  for (let i = 0; i < value.length; i++) {
    const unit = value.charCodeAt(i)
    // A surrogate is half of a four-byte character.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3
  }
  return bytes
}
