// POST /audio/transcriptions of layer B.
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { AudioFault } from "@parley/speech/upload/UploadedAudio"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { randomUUID } from "node:crypto"
import { RecognitionRequests } from "@parley/app/speech/RecognitionRequests"
import { audioRefusal } from "@parley/app/speech/refusalOf"
import { Settings } from "../../Settings.ts"
import { callerOf } from "./caller.ts"
import { withEnvelope } from "./Envelope.ts"
import { root } from "./root.ts"
import { askedOf, replyOf } from "./transcription.ts"

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const desk = yield* RecognitionRequests
    const keys = yield* ApiKeys
    const { vendor, vendorAliases } = yield* Settings

    const transcribe = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { workspaceId } = yield* callerOf(keys)
      const asked = yield* askedOf(request, { vendor, aliases: vendorAliases })
      const language = /^[a-z]{2}$/.test(asked.language) ? asked.language : ""
      const recognised = yield* desk
        .recognise({ workspaceId, file: asked.file, language })
        .pipe(Effect.mapError((failure) => (failure instanceof AudioFault ? audioRefusal(failure, "file") : failure)))
      return HttpServerResponse.jsonUnsafe(replyOf(recognised, asked), {
        headers: { "x-generation-id": randomUUID() }
      })
    })

    return HttpRouter.add("POST", `${root}/audio/transcriptions`, withEnvelope(vendor)(transcribe))
  })
)
