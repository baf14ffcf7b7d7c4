// wss /v1/tts/live and /v1/tts/live/with-timestamp: MessagePack maps in binary frames. `start`, then `text` and `flush` as
// often as wanted, `stop`; audio comes back as it is made. The plain socket is one such session, the timestamped one any
// number of them in a row. Close codes: 1000 after `finish`, 1008 after an `error` event, 1003 for a frame that is no map, 1009
// too large, 1011 after a failed engine.
import { faultsOf, sentenceOf } from "@parley/contract/Fault"
import { ttsModelOf, type TtsModel, TtsRequestBinary } from "@parley/contract/speech/TtsRequest"
import type { SpeechInput, SynthesisEvent } from "@parley/speech/Synthesis"
import { Cause, Data, Effect, Exit, Layer, Queue, Result, Schema, type Scope, Stream } from "effect"
import type { SpeechRequestError } from "@parley/app/speech/requestErrors"
import { SpeechRequests } from "@parley/app/speech/SpeechRequests"
import { synthesisRequest } from "@parley/app/speech/synthesisRequest"
import { MessagePack } from "../body/MessagePack.ts"
import * as TimedAudio from "../timedAudio.ts"
import { bearer } from "./bearer.ts"
import { textPieces } from "./textPieces.ts"
import { WebSocketRoutes } from "./WebSocketRoutes.ts"
import type { SpeechSocket } from "./SpeechSocket.ts"
import { KeyCheck } from "../KeyCheck.ts"

/** A client that sends nothing for this long before `stop` is disconnected. */
const idleMs = 60_000
/** Largest text of one frame. */
const longestFrameText = 2 ** 20

/** How a session ends early: the last event, and the close code (RFC 6455, 7.4.1). */
class Ending extends Data.TaggedError("Ending")<{
  readonly event: Readonly<Record<string, unknown>> | undefined
  readonly code: 1003 | 1008 | 1009 | 1011
}> {}

export const layer: Layer.Layer<never, never, KeyCheck | WebSocketRoutes | SpeechRequests> = Layer.effectDiscard(
  Effect.gen(function* () {
    const routes = yield* WebSocketRoutes
    const keys = yield* KeyCheck
    const speechRequests = yield* SpeechRequests
    const open = (path: RegExp, timing: boolean) =>
      routes.add({
        path,
        accept: (handshake) =>
          Effect.map(bearer(keys, handshake), ({ workspaceId }) => {
            const model = ttsModelOf([handshake.headers["model"] ?? []].flat()[0])
            const session: Session = { speechRequests, workspaceId, model, timing }
            return (socket) => talk(session, socket)
          })
      })
    yield* open(/^\/v1\/tts\/live$/, false)
    yield* open(/^\/v1\/tts\/live\/with-timestamp$/, true)
  })
)

interface Session {
  readonly speechRequests: SpeechRequests["Service"]
  readonly workspaceId: string
  readonly model: TtsModel
  readonly timing: boolean
}

const talk = Effect.fnUntraced(function* (
  session: Session,
  socket: SpeechSocket
): Effect.fn.Return<void, never, Scope.Scope> {
  const ended = yield* once(session, socket).pipe(
    Effect.scoped,
    session.timing ? Effect.forever : Effect.asVoid,
    Effect.catchDefect((defect) =>
      Effect.logError("A live session failed", defect).pipe(
        Effect.andThen(Effect.fail(new Ending({ event: finished("error", "Internal server error"), code: 1011 })))
      )
    ),
    Effect.exit
  )
  const failure = Exit.isFailure(ended) ? Cause.findErrorOption(ended.cause) : undefined
  if (failure?._tag !== "Some") return yield* socket.close(1000)
  const { code, event } = failure.value
  if (event !== undefined) yield* socket.send(MessagePack.encode(event))
  yield* socket.close(code)
})

/** From `start` to `finish`. */
const once = Effect.fnUntraced(function* (session: Session, socket: SpeechSocket) {
  const first = yield* session.timing ? nextEvent(socket) : bounded(nextEvent(socket))
  if (first["event"] !== "start") return yield* fault("the first event must be start")
  const began = performance.now()
  const time = () => Math.round(performance.now() - began)
  const { request, text } = yield* requestOf(session, first["request"])
  const speaker = yield* Effect.mapError(session.speechRequests.open(request), refused)
  const input = yield* Queue.bounded<SpeechInput, Cause.Done>(16)
  const speaking = speaker.speak(Stream.fromQueue(input)).pipe(
    Stream.mapError(
      (failure) =>
        new Ending({ event: finished("error", failure.message, time()), code: failure.status === 402 ? 1008 : 1011 })
    ),
    session.timing ? timed : plain,
    Stream.runForEach((event) => socket.send(MessagePack.encode({ ...event, time: time() })))
  )
  yield* Effect.all([Effect.andThen(put(text, input), listen(socket, input)), speaking], {
    concurrency: 2,
    discard: true
  })
  yield* socket.send(MessagePack.encode(finished("stop", undefined, time())))
})

/** Hands the client's text to the synthesizer until `stop`. */
const listen = Effect.fnUntraced(function* (socket: SpeechSocket, input: Queue.Queue<SpeechInput, Cause.Done>) {
  for (;;) {
    const event = yield* bounded(nextEvent(socket))
    switch (event["event"]) {
      case "text": {
        const { text } = event
        if (typeof text !== "string" || !text.isWellFormed()) return yield* fault("text must be valid Unicode text")
        if (text.length > longestFrameText) {
          return yield* new Ending({ event: failed("text is too large"), code: 1009 })
        }
        yield* put(text, input)
        break
      }
      case "flush":
        yield* Queue.offer(input, { _tag: "Flush" })
        break
      case "stop":
        return yield* Queue.end(input)
      case "start":
        return yield* fault("start was sent before")
      default:
        return yield* fault("unknown event")
    }
  }
})

/** Waits while enough text waits to be spoken. */
const put = (text: string, input: Queue.Queue<SpeechInput, Cause.Done>): Effect.Effect<void> =>
  Effect.forEach(textPieces(text), (piece) => Queue.offer(input, { _tag: "Text", text: piece }), { discard: true })

type Messages<E> = Stream.Stream<object, E>

const plain = <E>(events: Stream.Stream<SynthesisEvent, E>): Messages<E> =>
  Stream.flatMap(events, (event) =>
    event._tag === "Audio" ? Stream.make({ event: "audio", audio: event.bytes }) : Stream.empty
  )

const timed = <E>(events: Stream.Stream<SynthesisEvent, E>): Messages<E> =>
  events.pipe(
    Stream.mapAccum((): TimedAudio.Known => undefined, TimedAudio.step),
    Stream.map((sound) => Object.assign({ event: "audio" }, sound))
  )

const nextEvent = Effect.fnUntraced(function* (socket: SpeechSocket) {
  const frame = yield* socket.receive
  if (frame._tag === "Text") return yield* new Ending({ event: failed("frames must be binary"), code: 1003 })
  const value = MessagePack.decode(frame.bytes)
  if (Result.isFailure(value) || !isMap(value.success)) {
    return yield* new Ending({ event: failed("a frame must be one MessagePack map"), code: 1003 })
  }
  return value.success
})

const bounded = <A>(effect: Effect.Effect<A, Ending>): Effect.Effect<A, Ending> =>
  Effect.timeoutOrElse(effect, {
    duration: idleMs,
    orElse: () => Effect.fail(new Ending({ event: finished("error", "nothing was sent for 60 s"), code: 1008 }))
  })

const decodeRequest = Schema.decodeUnknownResult(TtsRequestBinary)

const requestOf = Effect.fnUntraced(function* ({ model, timing, workspaceId }: Session, request: unknown) {
  const given = isMap(request) ? { text: "", ...request } : request
  const decoded = decodeRequest(given, { errors: "all" })
  if (Result.isFailure(decoded)) return yield* fault(sentenceOf(faultsOf(decoded.failure.issue, "request")))
  return { request: synthesisRequest(decoded.success, { model, timing, workspaceId }), text: decoded.success.text }
})

const refused = (error: SpeechRequestError): Ending =>
  new Ending({
    event: {
      ...failed(error.message),
      ...("max_concurrency" in error ? { max_concurrency: error.max_concurrency } : {})
    },
    code: 1008
  })

const fault = (message: string): Ending => new Ending({ event: failed(message), code: 1008 })

const failed = (error: string) => ({ event: "error", error })

const finished = (reason: "stop" | "error", message?: string, time?: number) => ({
  event: "finish",
  reason,
  ...(message === undefined ? {} : { message }),
  ...(time === undefined ? {} : { time })
})

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
