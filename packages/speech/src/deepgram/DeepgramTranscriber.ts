// Deepgram's live socket (/v1/listen) behind the transcriber port: one socket for each call. A commit sends Finalize;
// since that need not be answered when little was said, a commit is also answered by what was heard so far, once
// nothing more has come for a while. A service that said nothing at all of a voice is dead instead.
import { Effect, Exit, Schedule, Scope } from "effect"
import type { Redacted } from "effect"
import { peak } from "@parley/audio/Level"
import { pcmBytes } from "@parley/audio/Wav"
import { SpeechError } from "../ports/SpeechError.ts"
import type { SpeechErrorReason } from "../ports/SpeechError.ts"
import type { SpokenWord, Transcriber, TranscriptionOptions, TranscriptionStream } from "../ports/Transcriber.ts"
import { makeCommitLine } from "../socket/CommitLine.ts"
import { PcmBatches } from "../socket/PcmBatches.ts"
import { keyHeader, openSocket } from "../socket/ProviderSocket.ts"
import { messageOf } from "./DeepgramMessage.ts"
import { StreamedUtterances } from "./StreamedUtterances.ts"
import type { Utterance } from "./StreamedUtterances.ts"

export interface DeepgramSettings {
  /** Before `/v1/listen`: `https://api.deepgram.com`. */
  readonly baseUrl: string
  readonly apiKey?: Redacted.Redacted | undefined
  readonly model: string
  /** Handshake, at most. Default 10 s. */
  readonly openMs?: number | undefined
  /** Commit to Final, at most. Default 5 s. */
  readonly finalMs?: number | undefined
  /** A commit is answered with what was heard when nothing more came for this long. Default 1 s. */
  readonly quietMs?: number | undefined
}

const provider = "deepgram"
/** The service leaves after 10 s without anything. */
const keepAliveMs = 4000
/** Below -50 dBFS at its loudest nothing was said. */
const quietest = 0.003
/** Bytes the network has not taken; the call goes on without hearing what is beyond. */
const mostBacklog = 2 ** 20

interface Commit {
  /** A voice was in it. */
  readonly audible: boolean
  readonly resultsBefore: number
}

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
  const utterances = new StreamedUtterances()
  let over = false
  let sentMs = 0
  /** Of the running utterance. */
  let loudest = 0
  /** So far; when the running utterance began. */
  let results = 0
  let resultsBefore = 0

  const stop = () => {
    over = true
    line.clear()
    quiet.clear()
  }
  const die = (reason: SpeechErrorReason, message: string): void => {
    if (over) return
    stop()
    fork(Scope.close(scope, Exit.void))
    options.onFailure(new SpeechError({ reason, provider, message }))
  }
  const line = makeCommitLine<Commit>(fork, finalMs, () => {
    if (!answerAsHeard()) die("Timeout", "no results came")
  })
  const answer = (utterance: Utterance): void => {
    line.shift()
    quiet.shift()
    options.onEvent({ _tag: "Final", text: textOf(utterance.words), words: utterance.words })
  }
  /** False when nothing at all came although there was a voice. */
  const answerAsHeard = (): boolean => {
    const first = line.first()
    if (over || first === undefined) return true
    if (first.audible && results === first.resultsBefore) return false
    const utterance = utterances.giveUp()
    if (utterance !== undefined) answer(utterance)
    return true
  }
  const quiet = makeCommitLine<undefined>(fork, quietMs, answerAsHeard)
  yield* Scope.addFinalizer(scope, Effect.sync(stop))

  const hear = (json: unknown): void => {
    if (over) return
    const message = messageOf(json)
    if (message._tag === "Garbage") return die("InvalidOutput", "a message that is none")
    if (message._tag === "Error") return die("Unavailable", "refused")
    if (message._tag === "Other") return
    results++
    if (message.isFinal) for (const utterance of utterances.hear(message)) answer(utterance)
    const text = textOf(utterances.running(message.isFinal ? [] : message.words))
    if (text !== "" && !message.fromFinalize) options.onEvent({ _tag: "Partial", text })
  }
  const opened = openSocket(
    {
      provider,
      url: addressOf(settings, options),
      headers: keyHeader("authorization", settings.apiKey, "Token "),
      openMs
    },
    { onMessage: hear, onEnd: ({ code }) => die("Unavailable", `closed with ${code}`) }
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
  const batches = new PcmBatches((samples) => {
    if (socket.backlog() > mostBacklog) return
    loudest = Math.max(loudest, peak(samples))
    sentMs += samples.length / 16
    socket.sendBytes(pcmBytes(samples).slice())
  })
  const begin = () => {
    loudest = 0
    resultsBefore = results
  }
  return {
    push: (samples) => {
      if (!over) batches.push(samples)
    },
    commit: () => {
      if (over) return
      batches.flush()
      utterances.commit(sentMs)
      line.add({ audible: loudest >= quietest, resultsBefore })
      begin()
      quiet.add(undefined)
      socket.sendJson({ type: "Finalize" })
    },
    discard: () => {
      if (over) return
      batches.flush()
      utterances.discard(sentMs)
      begin()
      socket.sendJson({ type: "Finalize" })
    }
  }
})

const textOf = (words: ReadonlyArray<SpokenWord>): string =>
  words
    .map((word) => word.text)
    .join(" ")
    .trim()

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
