// What the other side of a stream-input socket says: sound and times of characters, or why it refuses. Anything may
// come; what is not understood is a failure, never an exception.
import { Result, Schema } from "effect"
import type { SpeechErrorReason } from "../ports/SpeechError.ts"
import { reasonOfStatus } from "../socket/ProviderSocket.ts"

export const provider = "elevenlabs"

/** Characters of a frame's text, each with its start and duration in milliseconds. */
export interface CharacterSpans {
  readonly chars: ReadonlyArray<string>
  readonly charStartTimesMs: ReadonlyArray<number>
  readonly charDurationsMs: ReadonlyArray<number>
}

export type StreamInputFrame =
  | {
      readonly _tag: "Sound"
      /** Raw PCM; may be empty. */
      readonly audio: Uint8Array
      readonly characters: CharacterSpans | undefined
      readonly isFinal: boolean
    }
  | { readonly _tag: "Failed"; readonly reason: SpeechErrorReason }

const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

const Frame = Schema.Struct({
  audio: maybe(Schema.String),
  isFinal: maybe(Schema.Boolean),
  alignment: maybe(
    Schema.Struct({
      chars: Schema.Array(Schema.String),
      charStartTimesMs: Schema.Array(Schema.Finite),
      charDurationsMs: Schema.Array(Schema.Finite)
    })
  ),
  error: maybe(Schema.Unknown),
  code: maybe(Schema.Unknown)
})

const decode = Schema.decodeUnknownResult(Frame)

/** Decodes one frame. Never throws: what is no frame is `Failed` with `InvalidOutput`. */
export const frameOf = (message: unknown): StreamInputFrame => {
  const frame = decode(message)
  if (Result.isFailure(frame)) return { _tag: "Failed", reason: "InvalidOutput" }
  const { alignment, audio, code, error, isFinal } = frame.success
  if (error !== undefined && error !== null) return { _tag: "Failed", reason: reasonOfError(error, code) }
  return {
    _tag: "Sound",
    audio: Buffer.from(audio ?? "", "base64"),
    characters: alignment ?? undefined,
    isFinal: isFinal === true
  }
}

/** By the number where it is an HTTP status, by the word where it is one that is known. */
export const reasonOfError = (error: unknown, code: unknown): SpeechErrorReason => {
  if (typeof code === "number" && code >= 400 && code < 600) return reasonOfStatus(code)
  const word = typeof error === "string" ? error : ""
  if (/auth|api_key|unauthori[sz]ed|permission/i.test(word)) return "Unauthorized"
  if (/quota|rate_limit|too_many|overload|exhausted|busy|throttled/i.test(word)) return "Overloaded"
  return "Unavailable"
}
