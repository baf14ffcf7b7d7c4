// Deepgram's live socket (/v1/listen) behind the transcriber port: one socket for each call. A commit sends
// Finalize; what answers it is decided in `DeepgramAnswers`.
import { Effect, Exit, Schedule, Scope } from "effect"
import type { Redacted } from "effect"
import { peak } from "@parley/audio/Level"
import { pcmBytes } from "@parley/audio/Wav"
import { SpeechError } from "../ports/SpeechError.ts"
import type { Transcriber, TranscriptionOptions, TranscriptionStream } from "../ports/Transcriber.ts"
import { PcmBatches } from "../socket/PcmBatches.ts"
import { keyHeader, openSocket } from "../socket/ProviderSocket.ts"
import { DeepgramAnswers } from "./DeepgramAnswers.ts"

/** Where the service is, and its bounds. */
export interface DeepgramSettings {
  /** Before `/v1/listen`: `https://api.deepgram.com`. */
  readonly baseUrl: string
  readonly apiKey?: Redacted.Redacted | undefined
  readonly model: string
  /** Handshake, at most. Default 10 s. */
  readonly openMs?: number | undefined
  /** Commit to Final, at most. Default 5 s. */
  readonly finalMs?: number | undefined
  /** A commit is answered with what was recognised when nothing more came for this long. Default 1 s. */
  readonly quietMs?: number | undefined
}

const provider = "deepgram"
/** The service leaves after 10 s without anything. */
const keepAliveMs = 4000
/** Below -50 dBFS at its loudest nothing was said. */
const quietest = 0.003
/** Bytes the network has not taken; the call goes on without recognising what is beyond. */
const mostBacklog = 2 ** 20

/** A live recogniser; each `open` is a socket. Fails with the reason of the refused handshake. */
export const makeDeepgramTranscriber = (settings: DeepgramSettings): Transcriber => ({
  provider,
  streaming: true,
  open: (options) => open(settings, options)
})

const open = Effect.fnUntraced(function* (
  settings: DeepgramSettings,
  options: TranscriptionOptions
): Effect.fn.Return<TranscriptionStream, SpeechError, Scope.Scope> {
  const { finalMs = 5000, openMs = 10_000, quietMs = 1000 } = settings
  const scope = yield* Scope.fork(yield* Effect.scope)
  const fork = Effect.runForkWith(yield* Effect.context())
  const answers = new DeepgramAnswers(fork, { finalMs, quietMs }, options.onEvent, (reason, message) => {
    fork(Scope.close(scope, Exit.void))
    options.onFailure(new SpeechError({ reason, provider, message }))
  })
  yield* Scope.addFinalizer(
    scope,
    Effect.sync(() => answers.stop())
  )
  const opened = openSocket(
    {
      provider,
      url: addressOf(settings, options),
      headers: keyHeader("authorization", settings.apiKey, "Token "),
      openMs
    },
    {
      onMessage: (json) => answers.receive(json),
      onEnd: ({ code }) => answers.fail("Unavailable", `closed with ${code}`)
    }
  )
  const socket = yield* Scope.provide(opened, scope).pipe(Effect.onError(() => Scope.close(scope, Exit.void)))
  yield* Scope.addFinalizer(
    scope,
    Effect.sync(() => socket.sendJson({ type: "CloseStream" }))
  )
  yield* Effect.sync(() => socket.sendJson({ type: "KeepAlive" })).pipe(
    Effect.repeat(Schedule.spaced(keepAliveMs)),
    Effect.forkIn(scope)
  )
  let sentMs = 0
  /** Of the running utterance. */
  let loudest = 0
  const batches = new PcmBatches((samples) => {
    if (socket.backlog() > mostBacklog) return
    loudest = Math.max(loudest, peak(samples))
    sentMs += samples.length / 16
    socket.sendBytes(pcmBytes(samples).slice())
  })
  const end = (isDiscarded: boolean) => {
    if (answers.isOver) return
    batches.flush()
    if (isDiscarded) answers.discard(sentMs)
    else answers.commit(sentMs, loudest >= quietest)
    loudest = 0
    socket.sendJson({ type: "Finalize" })
  }
  return {
    push: (samples) => {
      if (!answers.isOver) batches.push(samples)
    },
    commit: () => end(false),
    discard: () => end(true)
  }
})

const addressOf = (settings: DeepgramSettings, options: TranscriptionOptions): URL => {
  const url = new URL(`${settings.baseUrl.replace(/\/+$/, "")}/v1/listen`)
  url.searchParams.set("model", settings.model)
  url.searchParams.set("encoding", "linear16")
  url.searchParams.set("sample_rate", "16000")
  url.searchParams.set("channels", "1")
  url.searchParams.set("interim_results", "true")
  url.searchParams.set("punctuate", "true")
  if (/^[a-z]{2}([-_]|$)/i.test(options.language)) url.searchParams.set("language", options.language.replace("_", "-"))
  // Nova-3 takes key terms; the models before it have another word for them.
  const parameter = settings.model.startsWith("nova-3") ? "keyterm" : "keywords"
  for (const term of options.keyterms) url.searchParams.append(parameter, term)
  return url
}
