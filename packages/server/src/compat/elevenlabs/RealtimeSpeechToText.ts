// wss /v1/speech-to-text/realtime of the ElevenLabs-compatible API: audio comes in base64, each commit is answered by
// `committed_transcript` and by the text with word times. Other messages are ignored.
import { Resampler } from "@parley/audio/Resampler"
import { samplesOf } from "@parley/audio/Wav"
import { Effect, Layer, Result } from "effect"
import { randomUUID } from "node:crypto"
import { type Listener, LiveRecognition } from "@parley/app/speech/LiveRecognition"
import { Settings } from "../../Settings.ts"
import { vendorHeaders } from "../native/vendorHeaders.ts"
import { type Handshake, WebSocketRoutes } from "../../http/sockets/WebSocketRoutes.ts"
import type { SpeechSocket } from "../../http/sockets/SpeechSocket.ts"
import { callerOf } from "./caller.ts"
import { type Failure, invalidRequest, errorBody, rejectedUpgrade } from "./Envelope.ts"
import { root } from "./root.ts"
import { hintOf, wordsOf } from "./speechToText.ts"
import { jsonOf } from "../../http/body/RequestBytes.ts"
import { KeyCheck } from "../../http/KeyCheck.ts"

/** Largest audio of one message. */
const chunkBytes = 4 * 2 ** 20
const recogniserRate = 16_000

interface Listening {
  readonly sampleRate: number
  readonly languageCode: string
  readonly keyterms: ReadonlyArray<string>
  readonly config: Readonly<Record<string, unknown>>
}

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const routes = yield* WebSocketRoutes
    const keys = yield* KeyCheck
    const live = yield* LiveRecognition
    const { vendor } = yield* Settings

    const accept = Effect.fnUntraced(function* (handshake: Handshake) {
      const { workspaceId } = yield* callerOf(keys, [handshake.headers["xi-api-key"] ?? []].flat()[0])
      const listening = yield* listeningOf(handshake, vendor)
      return (socket: SpeechSocket) =>
        live.open(workspaceId, { language: hintOf(listening.languageCode), keyterms: listening.keyterms }).pipe(
          Effect.flatMap((listener) => Effect.raceFirst(listen(socket, listener, listening), listener.spent)),
          Effect.catch((failure) => closeWith(socket, failure))
        )
    })

    yield* routes.add({
      path: new RegExp(`^${root}/+v1/speech-to-text/realtime$`),
      accept: (handshake) => Effect.mapError(accept(handshake), rejectedUpgrade)
    })
  })
)

const listeningOf = Effect.fnUntraced(function* (
  { headers, query }: Handshake,
  vendor: string
): Effect.fn.Return<Listening, Failure> {
  const native = Object.keys(vendorHeaders(headers, [vendor]))[0]
  if (native !== undefined) return yield* invalidRequest(`${native} is not supported`)
  const strategy = query.get("commit_strategy") ?? "manual"
  if (strategy !== "manual") return yield* invalidRequest("commit_strategy must be manual")
  const format = query.get("audio_format") ?? "pcm_16000"
  const rate = Number(/^pcm_(\d{4,6})$/.exec(format)?.[1])
  if (!(rate >= 8_000 && rate <= 48_000))
    return yield* invalidRequest("audio_format must be pcm_ and a rate from 8000 to 48000")
  const languageCode = query.get("language_code") ?? ""
  return {
    sampleRate: rate,
    languageCode,
    keyterms: query.getAll("keyterms"),
    config: {
      model_id: query.get("model_id") ?? "",
      audio_format: format,
      sample_rate: rate,
      commit_strategy: strategy,
      language_code: languageCode
    }
  }
})

const listen = Effect.fnUntraced(function* (socket: SpeechSocket, listener: Listener, listening: Listening) {
  const { config, languageCode, sampleRate } = listening
  yield* socket.sendJson({ message_type: "session_started", session_id: randomUUID(), config })
  const resampler = new Resampler(sampleRate, recogniserRate)
  for (;;) {
    const chunk = chunkOf(yield* socket.receive)
    if (chunk === undefined) continue
    const audio = chunk.audio.length > (chunkBytes * 4) / 3 ? undefined : fromBase64(chunk.audio)
    if (audio === undefined) {
      yield* socket.sendJson({
        message_type: "input_error",
        error: "audio_base_64 must be base64 of at most 4 MiB",
        code: 400
      })
      continue
    }
    if (audio.length > 1) yield* listener.push(resampler.process(samplesOf(audio)).slice())
    if (!chunk.commit) continue
    yield* listener.push(resampler.flush().slice())
    const { text, words } = yield* listener.commit
    yield* socket.sendJson({ message_type: "committed_transcript", text })
    yield* socket.sendJson({
      message_type: "committed_transcript_with_timestamps",
      text,
      language_code: languageCode,
      words: wordsOf(words)
    })
  }
})

interface Chunk {
  readonly audio: string
  readonly commit: boolean
}

/** Undefined for whatever is no audio message. */
const chunkOf = (frame: { readonly _tag: string; readonly text?: string }): Chunk | undefined => {
  if (frame.text === undefined) return undefined
  const message = Result.getOrUndefined(jsonOf(frame.text))
  if (typeof message !== "object" || message === null) return undefined
  const { audio_base_64, commit, message_type } = message as Readonly<Record<string, unknown>>
  if (message_type !== "input_audio_chunk" || typeof audio_base_64 !== "string") return undefined
  return { audio: audio_base_64, commit: commit === true }
}

const fromBase64 = (text: string): Uint8Array | undefined =>
  /^[A-Za-z0-9+/]*={0,2}$/.test(text) ? Buffer.from(text, "base64") : undefined

/** Clients read only messages that have a type. */
const closeWith = Effect.fnUntraced(function* (socket: SpeechSocket, failure: Failure) {
  const { body, http } = errorBody(failure)
  const type = http === 429 ? "rate_limited" : http === 402 ? "quota_exceeded" : "error"
  yield* socket.sendJson({ message_type: type, error: body.detail.message, code: http })
  yield* socket.close(http >= 500 ? 1011 : 1008)
})
