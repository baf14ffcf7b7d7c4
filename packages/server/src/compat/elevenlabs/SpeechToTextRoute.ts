// POST /v1/speech-to-text of the ElevenLabs-compatible API: a form with a recording in it.
import { AudioFault } from "@parley/speech/upload/UploadedAudio"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { randomUUID } from "node:crypto"
import { RecognitionRequests } from "@parley/app/speech/RecognitionRequests"
import { audioError } from "@parley/app/speech/requestErrors"
import { Settings } from "../../Settings.ts"
import { readForm } from "../../http/body/UploadForm.ts"
import { vendorHeaders } from "../native/vendorHeaders.ts"
import { callerOf } from "./caller.ts"
import { invalidRequest, withEnvelope } from "./Envelope.ts"
import { root } from "./root.ts"
import { hintOf, refusedOption, transcriptOf } from "./speechToText.ts"
import { KeyCheck } from "../../http/KeyCheck.ts"

/** Largest recording: 100 MiB, else 413. */
const uploadLimit = 100 * 2 ** 20

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const recognition = yield* RecognitionRequests
    const keys = yield* KeyCheck
    const { vendor } = yield* Settings

    const transcribe = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { workspaceId } = yield* callerOf(keys, request.headers["xi-api-key"])
      const query = new URL(request.url, "http://localhost").searchParams
      const { fields, files } = yield* Effect.mapError(readForm(uploadLimit), (error) =>
        error.status === 413 ? error : invalidRequest(error.message)
      )
      const native = Object.keys(vendorHeaders(request.headers, [vendor]))[0]
      const refused = refusedOption(fields, query) ?? native
      if (refused !== undefined) return yield* invalidRequest(`${refused} is not supported`)
      const [file, ...more] = files.get("file") ?? []
      if (file === undefined || more.length > 0) return yield* invalidRequest("file must be one file")
      if (!fields.has("model_id")) return yield* invalidRequest("model_id is missing")
      const keyterms = (fields.get("keyterms") ?? []).filter((term) => typeof term === "string")
      const recognised = yield* recognition
        .recognise({ workspaceId, file, language: hintOf(String(fields.get("language_code")?.[0] ?? "")), keyterms })
        .pipe(Effect.mapError((failure) => (failure instanceof AudioFault ? audioError(failure, "file") : failure)))
      return HttpServerResponse.jsonUnsafe(transcriptOf(recognised, fields), {
        headers: { "x-generation-id": randomUUID() }
      })
    })

    return HttpRouter.add("POST", `${root}/v1/speech-to-text`, withEnvelope(transcribe))
  })
)
