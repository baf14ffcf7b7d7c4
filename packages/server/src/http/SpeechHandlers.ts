// Speaking over HTTP: bytes as they are made, and the same with word times as server-sent events. A failure before
// the first sound has its status; after it the plain body breaks off (never a whole 200), the event stream says so.
import { contentTypeOf } from "@parley/audio/encode/OutputFormat"
import { Caller } from "@parley/contract/MainApi/Authorization"
import { MainApi } from "@parley/contract/MainApi/MainApi"
import type { ErrorBody } from "@parley/contract/Errors"
import type { TimedAudio as TimedAudioEvent } from "@parley/contract/speech/SpeechTiming"
import { ttsModelOf } from "@parley/contract/speech/TtsRequest"
import type { SynthesisEvent } from "@parley/speech/Synthesis"
import { Effect, Stream } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { RecognitionRequests } from "@parley/app/speech/RecognitionRequests"
import type { SpeechRequestError } from "@parley/app/speech/requestErrors"
import { SpeechRequests } from "@parley/app/speech/SpeechRequests"
import { speakable, synthesisRequest } from "@parley/app/speech/synthesisRequest"
import { VoiceDesigner } from "@parley/app/speech/VoiceDesigner"
import { transcribe } from "./transcribe.ts"
import { ttsBody } from "./body/TtsBody.ts"
import * as TimedAudio from "./timedAudio.ts"

export const layer = HttpApiBuilder.group(
  MainApi,
  "speech",
  Effect.fnUntraced(function* (handlers) {
    const speechRequests = yield* SpeechRequests
    const recognition = yield* RecognitionRequests
    const designer = yield* VoiceDesigner

    const speak = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, timing: boolean) {
      const { workspaceId } = yield* Caller
      const body = yield* ttsBody(request)
      const text = yield* speakable(body.text)
      const synthesis = synthesisRequest(body, { workspaceId, model: ttsModelOf(request.headers["model"]), timing })
      return {
        contentType: contentTypeOf(synthesis.settings.format),
        events: yield* speechRequests.speak(synthesis, text)
      }
    })

    return handlers
      .handleRaw("speak", ({ request }) =>
        Effect.map(speak(request, false), ({ contentType, events }) =>
          HttpServerResponse.stream(soundOf(events), { contentType })
        )
      )
      .handleRaw("speakWithTimestamps", ({ request }) =>
        Effect.map(speak(request, true), ({ events }) =>
          HttpServerResponse.stream(Stream.encodeText(serverSent(events)), {
            contentType: "text/event-stream",
            headers: { "cache-control": "no-store" }
          })
        )
      )
      .handleRaw("transcribe", ({ request }) => transcribe(recognition, request))
      .handle("designVoice", ({ payload, request }) =>
        Effect.flatMap(Caller, ({ workspaceId }) => designer.design(workspaceId, request.headers["model"], payload))
      )
  })
)

const soundOf = <E>(events: Stream.Stream<SynthesisEvent, E>): Stream.Stream<Uint8Array, E> =>
  Stream.flatMap(events, (event) => (event._tag === "Audio" ? Stream.make(event.bytes) : Stream.empty))

const serverSent = (events: Stream.Stream<SynthesisEvent, SpeechRequestError>): Stream.Stream<string> =>
  events.pipe(
    Stream.mapAccum((): TimedAudio.Known => undefined, TimedAudio.step),
    Stream.map(({ audio, ...rest }) => {
      const event: TimedAudioEvent = { audio_base64: Buffer.from(audio).toString("base64"), ...rest }
      return `data: ${JSON.stringify(event)}\n\n`
    }),
    Stream.catch(({ message, reason, status }) => {
      const body: ErrorBody = { status, message, reason }
      return Stream.make(`event: error\ndata: ${JSON.stringify(body)}\n\n`)
    })
  )
