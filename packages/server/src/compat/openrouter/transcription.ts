// Transcription in the OpenRouter-compatible API: a form or a JSON body with a recording, and its form of a transcript. The
// service's own parameters are refused.
import { faultsOf, sentenceOf } from "@parley/contract/Fault"
import { TranscriptionRequest } from "@parley/contract/compat/openrouter/Transcription"
import type { Recognised } from "@parley/speech/Recognition"
import { Effect, FileSystem, type Path, Result, Schema, type Scope } from "effect"
import type { HttpServerRequest } from "effect/http"
import { join } from "node:path"
import { languageNameOf } from "@parley/app/speech/languageNameOf"
import { bodyBytes, parseJson } from "../../http/body/RequestBytes.ts"
import { readForm } from "../../http/body/UploadForm.ts"
import { nativeNames, vendorHeaders } from "../native/vendorHeaders.ts"
import { type Failure, invalidRequest } from "./Envelope.ts"
import { type Names, optionsOf } from "./speech.ts"

/** Largest recording: 100 MiB, and 140 MiB as base64 in JSON; else 413. */
const uploadLimit = 100 * 2 ** 20
const jsonLimit = 140 * 2 ** 20

/** A checked request. `file`: path of the recording; `language`: as sent, `""` for none. */
export interface TranscriptionInput {
  readonly file: string
  readonly language: string
  readonly verbose: boolean
  readonly words: boolean
}

type Needs = FileSystem.FileSystem | HttpServerRequest.HttpServerRequest | Path.Path | Scope.Scope

/** Reads the HTTP request; 400 for what does not fit, 413. The file goes with the request. */
export const transcriptionInputOf = (
  request: HttpServerRequest.HttpServerRequest,
  names: Names
): Effect.Effect<TranscriptionInput, Failure, Needs> => {
  const native = Object.keys(vendorHeaders(request.headers, [names.vendor]))[0]
  if (native !== undefined) return Effect.fail(invalidRequest(`${native} is not a parameter of transcription`))
  return request.headers["content-type"]?.toLowerCase().startsWith("application/json") === true
    ? ofJson(request, names)
    : ofForm(names)
}

const decode = Schema.decodeUnknownResult(TranscriptionRequest)

const ofJson = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  names: Names
): Effect.fn.Return<TranscriptionInput, Failure, Needs> {
  const value = yield* Effect.flatMap(bodyBytes(request, jsonLimit), parseJson).pipe(
    Effect.mapError(({ message, status }) => invalidRequest(message, status))
  )
  const body = decode(value, { errors: "all" })
  if (Result.isFailure(body)) return yield* invalidRequest(sentenceOf(faultsOf(body.failure.issue, "body")))
  const { input_audio, language, model, provider, response_format, timestamp_granularities } = body.success
  const native = Object.keys(optionsOf(provider?.options ?? {}, names))[0]
  if (native !== undefined) return yield* invalidRequest(`${native} is not a parameter of transcription`)
  const files = yield* FileSystem.FileSystem
  const folder = yield* Effect.orDie(files.makeTempDirectoryScoped({ prefix: "parley-body-" }))
  const file = join(folder, "recording")
  yield* Effect.orDie(files.writeFile(file, input_audio.data))
  const granularities = [timestamp_granularities ?? []].flat()
  return yield* inputOf({ file, model, language, format: response_format, granularities }, names)
})

const ofForm = Effect.fnUntraced(function* (names: Names): Effect.fn.Return<TranscriptionInput, Failure, Needs> {
  const { fields, files } = yield* readForm(uploadLimit).pipe(
    Effect.mapError(({ message, status }) => invalidRequest(message, status))
  )
  const native = nativeNames.find((name) => fields.has(name) && name !== "temperature")
  if (native !== undefined) return yield* invalidRequest(`${native} is not a parameter of transcription`)
  const [file, ...more] = files.get("file") ?? []
  if (file === undefined || more.length > 0) return yield* invalidRequest("file must be one file")
  const text = (name: string) => (fields.has(name) ? String(fields.get(name)?.[0]) : undefined)
  const granularities = ["timestamp_granularities", "timestamp_granularities[]"].flatMap((name) =>
    (fields.get(name) ?? []).map(String)
  )
  const model = text("model")
  if (model === undefined) return yield* invalidRequest("model is missing")
  return yield* inputOf(
    { file, model, language: text("language"), format: text("response_format"), granularities },
    names
  )
})

interface Given {
  readonly file: string
  readonly model: string
  readonly language: string | null | undefined
  readonly format: string | null | undefined
  /** Lists may come joined by commas. */
  readonly granularities: ReadonlyArray<string>
}

const inputOf = Effect.fnUntraced(function* (
  { file, format, granularities, language, model }: Given,
  { vendor }: Names
): Effect.fn.Return<TranscriptionInput, Failure> {
  if (model !== `${vendor}-audio/transcribe-1`) return yield* invalidRequest("model is not a transcription model")
  const shape = format ?? "json"
  if (shape !== "json" && shape !== "verbose_json") {
    return yield* invalidRequest("response_format must be json or verbose_json")
  }
  const wanted = granularities.flatMap((one) => one.split(",")).map((one) => one.trim())
  const unknown = wanted.find((one) => one !== "word" && one !== "segment")
  if (unknown !== undefined) return yield* invalidRequest("timestamp_granularities must be word or segment")
  return { file, language: language ?? "", verbose: shape === "verbose_json", words: wanted.includes("word") }
})

/** The body of the answer, short or verbose; times in seconds. */
export const replyOf = (recognised: Recognised, { language, verbose, words }: TranscriptionInput) => {
  const duration = seconds(recognised.durationMs)
  const usage = { seconds: Math.ceil(duration) }
  if (!verbose) return { text: recognised.text, usage }
  const times = recognised.words.map(({ endMs, startMs, text }) => ({
    word: text,
    start: seconds(startMs),
    end: seconds(endMs)
  }))
  const known = recognised.language ?? ""
  return {
    task: "transcribe",
    language: language === "" ? (languageNameOf(known)?.toLowerCase() ?? "") : language,
    duration,
    text: recognised.text,
    segments:
      recognised.text === ""
        ? []
        : [{ id: 0, start: times[0]?.start ?? 0, end: times.at(-1)?.end ?? duration, text: recognised.text }],
    ...(words ? { words: times } : {}),
    usage
  }
}

const seconds = (ms: number): number => Math.round(ms) / 1000
