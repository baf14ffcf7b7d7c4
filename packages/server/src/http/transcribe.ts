// POST /v1/asr: one recording in, text and word times out. Errors carry a `code` and a `request_id` beside the error body, and
// the id once more in `X-Request-Id`.
import { recordingLimits, type Transcript } from "@parley/contract/speech/Transcript"
import { Caller } from "@parley/contract/MainApi/Authorization"
import { AudioFault, type AudioFaultReason } from "@parley/speech/upload/UploadedAudio"
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { randomUUID } from "node:crypto"
import { languageNameOf } from "@parley/app/speech/languageNameOf"
import type { RecognitionRequests } from "@parley/app/speech/RecognitionRequests"
import { audioError } from "@parley/app/speech/requestErrors"
import { BadRequest } from "@parley/contract/Errors"
import { readForm, type UploadForm } from "./body/UploadForm.ts"

/** Answers a request of an authenticated caller. Does not fail: errors become answers. */
export const transcribe = Effect.fnUntraced(
  function* (recognition: RecognitionRequests["Service"], _request: HttpServerRequest.HttpServerRequest) {
    const { workspaceId } = yield* Caller
    const form = yield* readForm(recordingLimits.bytes)
    const file = yield* theRecording(form)
    const language = yield* languageOf(form)
    const recognised = yield* recognition.recognise({ workspaceId, file, language })
    const code = recognised.language ?? language
    const name = languageNameOf(code)
    const transcript: Transcript = {
      text: recognised.text,
      duration: seconds(recognised.durationMs),
      segments: timesWanted(form)
        ? recognised.words.map(({ endMs, startMs, text }) => ({ text, start: seconds(startMs), end: seconds(endMs) }))
        : [],
      ...(name === undefined ? {} : { language: name }),
      ...(code === "" ? {} : { language_code: code })
    }
    return HttpServerResponse.jsonUnsafe(transcript)
  },
  Effect.catch((error) =>
    Effect.sync(() => {
      const { message, reason, status } = error instanceof AudioFault ? audioError(error) : error
      const requestId = randomUUID()
      const body = { status, message, reason, code: codeOf(error), request_id: requestId }
      return HttpServerResponse.jsonUnsafe(body, { status, headers: { "x-request-id": requestId } })
    })
  )
)

const theRecording = ({ files, fields }: UploadForm): Effect.Effect<string, BadRequest> => {
  const [first, ...more] = files.get("audio") ?? []
  if (first !== undefined && more.length === 0) return Effect.succeed(first)
  const why = fields.has("audio") ? "must be a file" : first === undefined ? "is missing" : "must be one file"
  return Effect.fail(new BadRequest({ message: `audio ${why}` }))
}

/** A hint: what is no language code is refused, a known one need not be spoken. */
const languageOf = ({ fields }: UploadForm): Effect.Effect<string, BadRequest> => {
  const given = fields.get("language")?.[0] ?? ""
  return given === "" || (typeof given === "string" && /^[a-z]{2}$/.test(given))
    ? Effect.succeed(given)
    : Effect.fail(new BadRequest({ message: "language must be a lower-case ISO 639-1 code" }))
}

/** Absent is true; in a form everything but `true` is false. */
const timesWanted = ({ fields }: UploadForm): boolean => {
  const [ignore] = fields.get("ignore_timestamps") ?? [true]
  return !(ignore === true || (typeof ignore === "string" && ignore.toLowerCase() === "true"))
}

const codeOf = (error: AudioFault | { readonly status: number }): string =>
  error instanceof AudioFault ? faultCodes[error.reason] : (codes[error.status] ?? "internal_error")

const faultCodes: Readonly<Record<AudioFaultReason, string>> = {
  NotAudio: "invalid_audio",
  Unsupported: "invalid_audio",
  Damaged: "invalid_audio",
  Silent: "invalid_audio",
  Clipped: "invalid_audio",
  Unvoiced: "invalid_audio",
  TooShort: "audio_too_short",
  TooLong: "audio_too_long"
}

const codes: Readonly<Record<number, string>> = {
  400: "invalid_request",
  402: "insufficient_credit",
  413: "request_too_large",
  415: "unsupported_media_type",
  429: "too_many_requests",
  502: "upstream_unavailable",
  503: "upstream_unavailable"
}

const seconds = (ms: number): number => Math.round(ms) / 1000
