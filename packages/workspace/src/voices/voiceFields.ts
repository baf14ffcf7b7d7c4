// Fields of a voice model that come in several shapes: a list, one text, or, from one official client, a list joined
// by commas into one text. Decided here once, for every content type.
import { type Invalid, invalid } from "@parley/contract/Errors"
import { fault, faultsOf } from "@parley/contract/Fault"
import { Tags } from "@parley/contract/VoiceModel"
import { Effect, Result, Schema } from "effect"

type OneOrMany = string | ReadonlyArray<string> | null | undefined

/** One text is split at commas; empty tags and repetitions go. */
export const tagsOf = (value: OneOrMany): Effect.Effect<ReadonlyArray<string>, Invalid> => {
  const tags = new Set(
    listOf(value, (text) => text.split(","))
      .map((tag) => tag.trim())
      .filter((tag) => tag !== "")
  )
  const checked = Schema.decodeUnknownResult(Tags)([...tags])
  return Result.isSuccess(checked)
    ? Effect.succeed(checked.success)
    : Effect.fail(
        invalid(faultsOf(checked.failure.issue, "body").map(({ msg, type }) => fault(["body", "tags"], msg, type)))
      )
}

/**
 * One for each recording, `""` where it is not known. One text for several recordings is split at commas when there
 * are then as many as recordings, else it belongs to the first: a text may hold commas of its own.
 */
export const textsOf = (value: OneOrMany, recordings: number): Effect.Effect<ReadonlyArray<string>, Invalid> => {
  const texts = listOf(value, (text) => {
    const parts = text.split(",")
    return recordings > 1 && parts.length === recordings ? parts : [text]
  })
  return texts.length > recordings
    ? Effect.fail(invalid([fault(["body", "texts"], "must not be more than the voices")]))
    : Effect.succeed(Array.from({ length: recordings }, (_, i) => texts[i]?.trim() ?? ""))
}

/** None, or exactly one for each recording. */
export const signaturesOf = (value: OneOrMany, recordings: number): Effect.Effect<ReadonlyArray<string>, Invalid> => {
  const signatures = listOf(value, (text) => (recordings > 1 ? text.split(",") : [text])).map((one) => one.trim())
  return signatures.length === 0 || signatures.length === recordings
    ? Effect.succeed(signatures)
    : Effect.fail(invalid([fault(["body", "voice_design_signatures"], "must be one for each of the voices")]))
}

const listOf = (value: OneOrMany, split: (text: string) => ReadonlyArray<string>): ReadonlyArray<string> =>
  value === undefined || value === null || value === "" ? [] : typeof value === "string" ? split(value) : value
