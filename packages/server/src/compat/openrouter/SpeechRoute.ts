// POST /audio/speech of the OpenRouter-compatible API: audio as it is made, under the content type its SDKs require.
import { contentTypeOf } from "@parley/audio/encode/OutputFormat"
import { Effect, Layer, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { randomUUID } from "node:crypto"
import { SpeechRequests } from "@parley/app/speech/SpeechRequests"
import { Settings } from "../../Settings.ts"
import { callerOf } from "./caller.ts"
import { withEnvelope } from "./Envelope.ts"
import { root } from "./root.ts"
import { synthesisInputOf } from "./speech.ts"
import { KeyCheck } from "../../http/KeyCheck.ts"

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const speechRequests = yield* SpeechRequests
    const keys = yield* KeyCheck
    const { vendor, vendorAliases } = yield* Settings

    const speak = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { workspaceId } = yield* callerOf(keys)
      const { synthesis, text } = yield* synthesisInputOf(request, workspaceId, { vendor, aliases: vendorAliases })
      const events = yield* speechRequests.speak(synthesis, text)
      const sound = Stream.flatMap(events, (event) =>
        event._tag === "Audio" ? Stream.make(event.bytes) : Stream.empty
      )
      return HttpServerResponse.stream(sound, {
        contentType: contentTypeOf(synthesis.settings.format),
        headers: { "x-generation-id": randomUUID() }
      })
    })

    return HttpRouter.add("POST", `${root}/audio/speech`, withEnvelope(vendor)(speak))
  })
)
