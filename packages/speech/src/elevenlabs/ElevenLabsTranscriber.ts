// Any service with ElevenLabs' realtime recognition socket, another Parley among them, behind the transcriber port: one
// socket for each call, commits by hand. The protocol knows no discard: what is discarded is committed and its answer left
// unread.
import { Effect, Exit, Scope } from "effect"
import type { Redacted } from "effect"
import { pcmBytes } from "@parley/audio/Wav"
import { SpeechError } from "../ports/SpeechError.ts"
import type { Transcriber, TranscriptionOptions, TranscriptionStream } from "../ports/Transcriber.ts"
import { keyHeader, openSocket } from "../socket/ProviderSocket.ts"
import { PcmBatches } from "../socket/PcmBatches.ts"
import { ElevenLabsAnswers } from "./ElevenLabsAnswers.ts"
import { provider } from "./StreamInputFrame.ts"

/** Where the service is, and its bounds. */
export interface ElevenLabsSettings {
  /** Before `/v1/speech-to-text`. Another Parley's is `{base}/compat/elevenlabs`. */
  readonly baseUrl: string
  readonly apiKey?: Redacted.Redacted | undefined
  readonly model: string
  /** Handshake, at most. Default 10 s. */
  readonly openMs?: number | undefined
  /** Commit to Final, at most. Default 5 s. */
  readonly finalMs?: number | undefined
}

/** Bytes the network has not taken; the call goes on without recognising what is beyond. */
const mostBacklog = 2 ** 20

/** A live recogniser; each `open` is a socket. Fails with the reason of the refused handshake. */
export const makeElevenLabsTranscriber = (settings: ElevenLabsSettings): Transcriber => ({
  provider,
  streaming: true,
  open: (options) => open(settings, options)
})

const open = Effect.fnUntraced(function* (
  settings: ElevenLabsSettings,
  options: TranscriptionOptions
): Effect.fn.Return<TranscriptionStream, SpeechError, Scope.Scope> {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const fork = Effect.runForkWith(yield* Effect.context())
  const answers = new ElevenLabsAnswers(fork, settings.finalMs ?? 5000, options.onEvent, (reason, message) => {
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
      headers: keyHeader("xi-api-key", settings.apiKey),
      openMs: settings.openMs ?? 10_000
    },
    {
      onMessage: (message) => answers.receive(message),
      onEnd: ({ code }) => answers.fail(code === 1008 ? "Unauthorized" : "Unavailable", `closed with ${code}`)
    }
  )
  const socket = yield* Scope.provide(opened, scope).pipe(Effect.onError(() => Scope.close(scope, Exit.void)))
  const send = (audio: string, commit: boolean) =>
    socket.sendJson({ message_type: "input_audio_chunk", audio_base_64: audio, commit, sample_rate: 16_000 })
  const batches = new PcmBatches((samples) => {
    if (socket.backlog() < mostBacklog) send(Buffer.from(pcmBytes(samples)).toString("base64"), false)
  })
  let startMs = 0
  let pushed = 0
  const end = (discarded: boolean) => {
    if (answers.isOver) return
    batches.flush()
    const commit = { startMs, lengthMs: pushed / 16, discarded, asked: pushed > 0 }
    startMs += pushed / 16
    pushed = 0
    if (!commit.asked && discarded) return
    answers.add(commit)
    if (commit.asked) send("", true)
  }
  return {
    push: (samples) => {
      if (answers.isOver) return
      pushed += samples.length
      batches.push(samples)
    },
    commit: () => end(false),
    discard: () => end(true)
  }
})

const addressOf = (settings: ElevenLabsSettings, options: TranscriptionOptions): URL => {
  const url = new URL(`${settings.baseUrl.replace(/\/+$/, "")}/v1/speech-to-text/realtime`)
  url.searchParams.set("model_id", settings.model)
  url.searchParams.set("commit_strategy", "manual")
  url.searchParams.set("audio_format", "pcm_16000")
  url.searchParams.set("include_timestamps", "true")
  if (/^[a-z]{2}([-_]|$)/i.test(options.language)) {
    url.searchParams.set("language_code", options.language.slice(0, 2).toLowerCase())
  }
  for (const term of options.keyterms) url.searchParams.append("keyterms", term)
  return url
}
