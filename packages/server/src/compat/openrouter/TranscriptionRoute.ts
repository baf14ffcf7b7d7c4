// POST /audio/transcriptions of the OpenRouter-compatible API.
import { AudioFault } from "@parley/speech/upload/UploadedAudio"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { randomUUID } from "node:crypto"
import { RecognitionRequests } from "@parley/app/speech/RecognitionRequests"
import { audioError } from "@parley/app/speech/requestErrors"
import { Settings } from "../../Settings.ts"
import { callerOf } from "./caller.ts"
import { withEnvelope } from "./Envelope.ts"
import { root } from "./root.ts"
import { transcriptionInputOf, replyOf } from "./transcription.ts"
import { KeyCheck } from "../../http/KeyCheck.ts"

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const recognition = yield* RecognitionRequests
    const keys = yield* KeyCheck
    const { vendor, vendorAliases } = yield* Settings

    const transcribe = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { workspaceId } = yield* callerOf(keys)
      const input = yield* transcriptionInputOf(request, { vendor, aliases: vendorAliases })
      const language = /^[a-z]{2}$/.test(input.language) ? input.language : ""
      const recognised = yield* recognition
        .recognise({ workspaceId, file: input.file, language })
        .pipe(Effect.mapError((failure) => (failure instanceof AudioFault ? audioError(failure, "file") : failure)))
      return HttpServerResponse.jsonUnsafe(replyOf(recognised, input), {
        headers: { "x-generation-id": randomUUID() }
      })
    })

    return HttpRouter.add("POST", `${root}/audio/transcriptions`, withEnvelope(vendor)(transcribe))
  })
)
