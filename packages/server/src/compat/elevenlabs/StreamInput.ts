// wss /v1/text-to-speech/{voice_id}/stream-input of the ElevenLabs-compatible API: text comes in pieces, audio goes out as it
// is made, with the times of each character on the timeline of the whole session when `sync_alignment` is set.
import type { Principal } from "@parley/contract/MainApi/Authorization"
import { faultsOf, sentenceOf } from "@parley/contract/Fault"
import { SocketText, type VoiceSettings } from "@parley/contract/compat/elevenlabs/TextToSpeech"
import type { TtsModel } from "@parley/contract/speech/TtsRequest"
import type { SpeechInput, SynthesisEvent } from "@parley/speech/Synthesis"
import { Cause, Data, Effect, Exit, Layer, Queue, Result, Schema, Stream } from "effect"
import { SpeechRequests } from "@parley/app/speech/SpeechRequests"
import { Settings } from "../../Settings.ts"
import { vendorHeaders } from "../native/vendorHeaders.ts"
import { textPieces } from "../../http/sockets/textPieces.ts"
import { type Handshake, WebSocketRoutes } from "../../http/sockets/WebSocketRoutes.ts"
import type { SpeechSocket } from "../../http/sockets/SpeechSocket.ts"
import { callerOf } from "./caller.ts"
import * as Characters from "./characterAlignment.ts"
import { type Failure, invalidRequest, errorBody, rejectedUpgrade } from "./Envelope.ts"
import { defaultFormat, type FormatFields, type FormatFault, formatOf } from "./outputFormat.ts"
import { root } from "./root.ts"
import { modelOf, requestOf } from "./textToSpeech.ts"
import { jsonOf } from "../../http/body/RequestBytes.ts"
import { keyMs } from "../../http/sockets/UnauthenticatedSockets.ts"
import { KeyCheck } from "../../http/KeyCheck.ts"

/** Text that waits to be spoken, in bytes. */
const bufferBytes = 2 ** 20
/** Without a message for this long the session ends; `inactivity_timeout` in the query changes it, up to 180 s. */
const idleSeconds = 60
/** `try_trigger_generation` on text that ends in the middle of a phrase waits this long for its rest. */
const triggerMs = 150

interface Talk {
  readonly speechRequests: SpeechRequests["Service"]
  readonly keys: KeyCheck["Service"]
  /** From the handshake; undefined when the key is to come with the first message. */
  readonly caller: Principal | undefined
  readonly voiceId: string
  readonly model: TtsModel
  readonly format: Result.Result<FormatFields, FormatFault>
  readonly timing: boolean
  readonly idleMs: number
  readonly native: Readonly<Record<string, unknown>>
}

/** The error that is sent on the socket before it is closed. */
class Ending extends Data.TaggedError("Ending")<{
  readonly error: string
  /** An HTTP status or a close code. */
  readonly code: number
  readonly close: 1000 | 1008 | 1009 | 1011
}> {}

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const routes = yield* WebSocketRoutes
    const keys = yield* KeyCheck
    const speechRequests = yield* SpeechRequests
    const { vendor } = yield* Settings

    const accept = Effect.fnUntraced(function* ({ headers, path, query }: Handshake) {
      const key = [headers["xi-api-key"] ?? []].flat()[0]
      const caller = key === undefined ? undefined : yield* callerOf(keys, key)
      const format = formatOf(query.get("output_format") ?? defaultFormat)
      if (Result.isFailure(format) && format.failure.early) return yield* invalidRequest(format.failure.message)
      const talk: Talk = {
        speechRequests,
        keys,
        caller,
        voiceId: path[0] ?? "",
        model: yield* modelOf(query.get("model_id") ?? "", vendor),
        format,
        timing: query.get("sync_alignment") === "true",
        idleMs: 1000 * Math.min(180, Math.max(1, Number(query.get("inactivity_timeout")) || idleSeconds)),
        native: vendorHeaders(headers, [vendor])
      }
      if (caller !== undefined) return (socket: SpeechSocket) => serve(talk, socket, () => undefined)
      return {
        begin: (socket: SpeechSocket, authenticated: () => void) => serve(talk, socket, authenticated),
        refused: rejectedUpgrade
      }
    })

    yield* routes.add({
      path: new RegExp(`^${root}/+v1/text-to-speech/([^/]+)/stream-input$`),
      accept: (handshake) => Effect.mapError(accept(handshake), rejectedUpgrade)
    })
  })
)

const serve = Effect.fnUntraced(function* (talk: Talk, socket: SpeechSocket, authenticated: () => void) {
  const ended = yield* converse(talk, socket, authenticated).pipe(
    Effect.scoped,
    Effect.catchDefect((defect) =>
      Effect.andThen(
        Effect.logError("A text socket failed", defect),
        Effect.fail(new Ending({ error: "Internal server error", code: 500, close: 1011 }))
      )
    ),
    Effect.exit
  )
  const failure = Exit.isFailure(ended) ? Cause.findErrorOption(ended.cause) : undefined
  if (failure?._tag !== "Some") return yield* socket.close(1000)
  const { close, code, error } = failure.value
  yield* socket.sendJson({ error, code })
  yield* socket.close(close)
})

const converse = Effect.fnUntraced(function* (talk: Talk, socket: SpeechSocket, authenticated: () => void) {
  const first = yield* nextText(talk.caller === undefined ? { idleMs: Math.min(talk.idleMs, keyMs) } : talk, socket)
  const caller = talk.caller ?? (yield* callerOf(talk.keys, keyOf(first)).pipe(Effect.mapError(refusedKey)))
  authenticated()
  if (Result.isFailure(talk.format)) return yield* endingOf(invalidRequest(talk.format.failure.message))
  if (talk.timing && "references" in talk.native) {
    return yield* endingOf(invalidRequest("references cannot be used with timing"))
  }
  const speaker = yield* requestOf({
    workspaceId: caller.workspaceId,
    voiceId: talk.voiceId,
    model: talk.model,
    format: talk.format.success,
    settings: settingsOf(first),
    native: talk.native,
    timing: talk.timing
  }).pipe(Effect.flatMap(talk.speechRequests.open), Effect.mapError(endingOf))
  const input = yield* Queue.bounded<SpeechInput, Cause.Done>(16)
  const events = speaker.speak(Stream.fromQueue(input)).pipe(Stream.mapError(endingOf))
  yield* Effect.all([listen(talk, socket, first, input), sendAudio(socket, events)], { concurrency: 2, discard: true })
  yield* socket.sendJson({ isFinal: true })
})

/** Until the empty text. */
const listen = Effect.fnUntraced(function* (
  talk: Talk,
  socket: SpeechSocket,
  first: SocketText,
  input: Queue.Queue<SpeechInput, Cause.Done>
) {
  // The opening blank is no text, and an empty opening is no end.
  let triggered = yield* take(first.text === " " ? { ...first, text: "" } : first, input)
  for (;;) {
    const message: SocketText | undefined = yield* triggered
      ? Effect.timeoutOrElse(nextText(talk, socket), { duration: triggerMs, orElse: () => Effect.succeed(undefined) })
      : nextText(talk, socket)
    if (message === undefined) yield* Queue.offer(input, { _tag: "Flush" })
    else if (message.text === "") return yield* Queue.end(input)
    triggered = message !== undefined && (yield* take(message, input, triggered))
  }
})

/** Hands the text on. True when it is to be spoken soon although its phrase is not over. */
const take = Effect.fnUntraced(function* (
  { flush, text, try_trigger_generation }: SocketText,
  input: Queue.Queue<SpeechInput, Cause.Done>,
  triggered = false
) {
  if (Buffer.byteLength(text) > bufferBytes) {
    return yield* new Ending({ error: "the text is over 1 MiB", code: 1009, close: 1009 })
  }
  if (!text.isWellFormed()) return yield* endingOf(invalidRequest("text must be valid Unicode"))
  for (const piece of textPieces(text)) yield* Queue.offer(input, { _tag: "Text", text: piece })
  const trigger = triggered || try_trigger_generation === true
  if (flush === true || (trigger && phraseEnd.test(text))) {
    yield* Queue.offer(input, { _tag: "Flush" })
    return false
  }
  return trigger && text !== ""
})

const phraseEnd = /[.!?…。！？,;:]["')\]]*\s*$/

const sendAudio = (socket: SpeechSocket, events: Stream.Stream<SynthesisEvent, Ending>) =>
  events.pipe(
    Stream.mapAccum(Characters.begin, Characters.step, { onHalt: (pending) => Characters.finish(pending) }),
    Stream.runForEach((one) => {
      if (one._tag === "Sound") return socket.sendJson({ audio: Buffer.from(one.bytes).toString("base64") })
      const alignment = Characters.inMilliseconds(one.alignment)
      return socket.sendJson({ alignment, normalizedAlignment: alignment })
    })
  )

const decode = Schema.decodeUnknownResult(SocketText)

const nextText = Effect.fnUntraced(function* ({ idleMs }: Pick<Talk, "idleMs">, socket: SpeechSocket) {
  const frame = yield* Effect.timeoutOrElse(socket.receive, {
    duration: idleMs,
    orElse: () => Effect.fail(new Ending({ error: "nothing was sent for too long", code: 1008, close: 1008 }))
  })
  const value = frame._tag === "Text" ? Result.getOrUndefined(jsonOf(frame.text)) : undefined
  const message = decode(value, { errors: "all" })
  if (Result.isSuccess(message)) return message.success
  return yield* endingOf(invalidRequest(sentenceOf(faultsOf(message.failure.issue, "message"))))
})

const keyOf = (first: SocketText): string | undefined =>
  first["xi-api-key"] ?? first.authorization?.replace(/^bearer\s+/i, "") ?? undefined

const settingsOf = ({ voice_settings }: SocketText): VoiceSettings | undefined => voice_settings ?? undefined

/** A key that may not speak is closed like a wrong one. */
const refusedKey = (failure: Failure): Ending => {
  const { close, code, error } = endingOf(failure)
  return new Ending({ error, code, close: code === 403 ? 1008 : close })
}

/**
 * An error is sent on the socket; the close code after it is 1000, except for a wrong key (1008) and a failure of the
 * service (1011).
 */
const endingOf = (failure: Failure): Ending => {
  const { body, http } = errorBody(failure)
  return new Ending({ error: body.detail.message, code: http, close: http === 401 ? 1008 : http >= 500 ? 1011 : 1000 })
}
