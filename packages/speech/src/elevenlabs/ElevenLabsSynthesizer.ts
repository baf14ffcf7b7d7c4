// Any service with ElevenLabs' stream-input socket, another Parley among them, behind the synthesizer port: one
// socket for each phrase, raw PCM as it is made, word times from the times of the characters.
import { Cause, Duration, Effect, Queue, Stream } from "effect"
import type { Redacted } from "effect"
import { samplesOf } from "@parley/audio/Wav"
import { SpeechError } from "../ports/SpeechError.ts"
import type { SpeechErrorReason } from "../ports/SpeechError.ts"
import type { SpeechChunk, SynthesisRequest, Synthesizer, VoiceInfo } from "../ports/Synthesizer.ts"
import { keyHeader, openSocket } from "../socket/ProviderSocket.ts"
import { estimateWords } from "../WordEstimate.ts"
import { CharacterClock } from "./CharacterClock.ts"
import { frameOf, provider } from "./StreamInputFrame.ts"
import type { StreamInputFrame } from "./StreamInputFrame.ts"

/** Where the service is, its voices and bounds. */
export interface ElevenLabsSpeechSettings {
  /** Before `/v1/text-to-speech`. Another Parley's is `{base}/compat/elevenlabs`. */
  readonly baseUrl: string
  readonly apiKey?: Redacted.Redacted | undefined
  readonly model: string
  /** The first speaks for `""`, `default` and names not among them. */
  readonly voices: readonly [VoiceInfo, ...ReadonlyArray<VoiceInfo>]
  /** From asking to the first sound. Default 10 s. */
  readonly firstByteMs?: number | undefined
  /** Longest wait without progress once it sounds. Default 5 s. */
  readonly gapMs?: number | undefined
}

const sampleRate = 24_000

/** One socket for each phrase; interrupting the stream closes it. */
export const makeElevenLabsSynthesizer = (settings: ElevenLabsSpeechSettings): Synthesizer => ({
  provider,
  voices: settings.voices,
  synthesize: (request) => Stream.unwrap(speak(settings, request))
})

type Frames = Queue.Queue<StreamInputFrame, SpeechError | Cause.Done>

const speak = Effect.fnUntraced(function* (settings: ElevenLabsSpeechSettings, request: SynthesisRequest) {
  const { firstByteMs = 10_000, gapMs = 5000 } = settings
  const frames: Frames = yield* Queue.unbounded<StreamInputFrame, SpeechError | Cause.Done>()
  const socket = yield* openSocket(
    {
      provider,
      url: addressOf(settings, request),
      headers: keyHeader("xi-api-key", settings.apiKey),
      openMs: firstByteMs
    },
    {
      onMessage: (message) => {
        const frame = frameOf(message)
        if (frame._tag === "Failed") Queue.failCauseUnsafe(frames, Cause.fail(failure(frame.reason, "refused")))
        else Queue.offerUnsafe(frames, frame)
        if (frame._tag === "Sound" && frame.isFinal) Queue.endUnsafe(frames)
      },
      onEnd: ({ code }) => {
        if (code === 1000) Queue.endUnsafe(frames)
        else Queue.failCauseUnsafe(frames, Cause.fail(failure(reasonOfClose(code), `closed with ${code}`)))
      }
    }
  )
  const speed = request.speed === 1 ? {} : { voice_settings: { speed: speedFor(settings.baseUrl, request.speed) } }
  socket.sendJson({ text: " ", ...speed })
  socket.sendJson({ text: `${request.text} `, flush: true })
  socket.sendJson({ text: "" })
  return sounding(frames, request, firstByteMs, gapMs)
})

/** Waiting in one piece, or in all beyond what the sound so far is worth, is bounded. */
const sounding = (
  frames: Frames,
  request: SynthesisRequest,
  firstByteMs: number,
  gapMs: number
): Stream.Stream<SpeechChunk, SpeechError> => {
  const clock = new CharacterClock()
  let samples = 0
  let waitedMs = 0
  const lengthMs = () => (samples * 1000) / sampleRate
  const take: Effect.Effect<StreamInputFrame | undefined, SpeechError> = Effect.suspend(() => {
    const leftMs =
      samples === 0
        ? Math.max(1, firstByteMs - waitedMs)
        : Math.max(1, Math.min(gapMs, gapMs + 2 * lengthMs() - waitedMs))
    return Effect.timed(Queue.take(frames)).pipe(
      Effect.map(([took, frame]): StreamInputFrame => {
        waitedMs += Duration.toMillis(took)
        return frame
      }),
      Effect.timeoutOrElse({
        duration: leftMs,
        orElse: () => Effect.fail(failure("Timeout", "the answer came too slowly"))
      }),
      Effect.catch((error) => (error._tag === "SpeechError" ? Effect.fail(error) : Effect.succeed(undefined)))
    )
  })
  const next: Effect.Effect<SpeechChunk | undefined, SpeechError> = Effect.flatMap(take, (frame) => {
    if (frame === undefined) {
      if (samples === 0) return Effect.fail(failure("InvalidOutput", "no audio"))
      return Effect.succeed(undefined)
    }
    if (frame._tag !== "Sound") return next
    if (frame.characters !== undefined) clock.add(frame.characters, lengthMs(), frame.audio.length > 0)
    const sound = samplesOf(frame.audio).slice()
    if (sound.length === 0) return next
    if (samples === 0) waitedMs = 0
    samples += sound.length
    return Effect.succeed({ _tag: "Audio", samples: sound, sampleRate })
  })
  return Stream.unfold("audio", (stage) =>
    Effect.gen(function* () {
      if (stage === "end") return undefined
      const chunk = yield* next
      if (chunk !== undefined) return [chunk, "audio"] as const
      if (request.words === false) return undefined
      const words = clock.words(request.text, lengthMs()) ?? estimateWords(request.text, lengthMs())
      return [{ _tag: "Words", words } satisfies SpeechChunk, "end"] as const
    })
  )
}

const addressOf = (settings: ElevenLabsSpeechSettings, request: SynthesisRequest): URL => {
  const voice = settings.voices.find(({ id }) => id === request.voice) ?? settings.voices[0]
  const base = settings.baseUrl.replace(/\/+$/, "")
  const url = new URL(`${base}/v1/text-to-speech/${encodeURIComponent(voice.id)}/stream-input`)
  url.searchParams.set("model_id", settings.model)
  url.searchParams.set("output_format", `pcm_${sampleRate}`)
  if (request.words !== false) url.searchParams.set("sync_alignment", "true")
  return url
}

/** The protocol's own vendor refuses what lies further from 1. */
const speedFor = (baseUrl: string, speed: number): number =>
  /(^|\.)elevenlabs\.io$/.test(new URL(baseUrl).hostname)
    ? Math.min(1.2, Math.max(0.7, speed))
    : Math.min(2, Math.max(0.5, speed))

const reasonOfClose = (code: number): SpeechErrorReason => (code === 1008 ? "Unauthorized" : "Unavailable")

const failure = (reason: SpeechErrorReason, message: string): SpeechError =>
  new SpeechError({ reason, provider, message })
