// Any OpenAI-compatible `/audio/speech` behind the synthesizer port. Asks for raw PCM and streams it; gives
// estimated word times, since the protocol has none. A provider slower than half of real time is too slow.
import { Effect, Stream } from "effect"
import type { SpeechError } from "../ports/SpeechError.ts"
import type { SpeechChunk, SynthesisRequest, Synthesizer, VoiceInfo } from "../ports/Synthesizer.ts"
import { estimateWords } from "../WordEstimate.ts"
import { failure, post, provider, watched } from "./OpenAiEndpoint.ts"
import type { OpenAiEndpoint } from "./OpenAiEndpoint.ts"

/** An endpoint with its voices. */
export interface OpenAiSpeechSettings extends OpenAiEndpoint {
  /** Voice for `""`, `default` and, when `voices` are listed, for names not among them. Default `alloy`. */
  readonly voice?: string | undefined
  /** Known voices; empty: every name is passed on. */
  readonly voices?: ReadonlyArray<VoiceInfo> | undefined
  /** Of the PCM that comes back. Default 24000. */
  readonly sampleRate?: number | undefined
}

/** One request for each phrase; interrupting the stream aborts it. */
export const makeOpenAiSynthesizer = (settings: OpenAiSpeechSettings): Synthesizer => ({
  provider,
  voices: settings.voices ?? [],
  synthesize: (request) => Stream.unwrap(speak(settings, request))
})

const speak = Effect.fnUntraced(function* (settings: OpenAiSpeechSettings, request: SynthesisRequest) {
  const sampleRate = settings.sampleRate ?? 24_000
  const body = {
    model: settings.model,
    input: request.text,
    voice: voiceOf(settings, request.voice),
    response_format: "pcm",
    speed: request.speed,
    ...request.extra,
    ...settings.extraBody
  }
  const answer = yield* post(settings, "/audio/speech", () => JSON.stringify(body))
  if (
    !/^(audio\/(pcm|l16|raw|x-raw|wave?|x-wav)|application\/octet-stream|binary\/octet-stream|$)/i.test(
      answer.contentType
    )
  ) {
    return yield* failure("InvalidOutput", "the answer is not raw audio")
  }
  const pcm = new PcmJoiner()
  const lengthMs = () => (pcm.samples * 1000) / sampleRate
  const read = watched(answer, settings.gapMs ?? 5000, () => 2 * lengthMs())
  const next: Effect.Effect<Int16Array | undefined, SpeechError> = Effect.flatMap(read, (bytes) => {
    if (bytes === undefined) {
      return pcm.samples === 0 ? Effect.fail(failure("InvalidOutput", "no audio")) : Effect.succeed(undefined)
    }
    if (pcm.samples === 0 && startsLikeFile(bytes))
      return Effect.fail(failure("InvalidOutput", "a file, not raw audio"))
    const samples = pcm.join(bytes)
    return samples.length === 0 ? next : Effect.succeed(samples)
  })
  return Stream.unfold("audio", (stage) =>
    Effect.gen(function* () {
      if (stage === "end") return undefined
      const samples = yield* next
      const chunk: SpeechChunk =
        samples === undefined
          ? { _tag: "Words", words: estimateWords(request.text, lengthMs()) }
          : { _tag: "Audio", samples, sampleRate }
      return [chunk, samples === undefined ? "end" : "audio"] as const
    })
  )
})

const voiceOf = (settings: OpenAiSpeechSettings, asked: string): string => {
  const own = settings.voice ?? "alloy"
  if (asked === "" || asked === "default") return own
  const listed = settings.voices ?? []
  return listed.length === 0 || listed.some((voice) => voice.id === asked) ? asked : own
}

/** RIFF, ID3, OggS, fLaC, or an opening of JSON or HTML: content types lie. */
const startsLikeFile = (bytes: Uint8Array): boolean =>
  /^(RIFF|ID3|OggS|fLaC|\{"|<!DO|<htm)/i.test(String.fromCharCode(...bytes.subarray(0, 4)))

/** Little-endian 16-bit samples out of bytes cut anywhere. */
class PcmJoiner {
  samples = 0
  #odd: number | undefined

  join(bytes: Uint8Array): Int16Array {
    const odd = this.#odd
    const whole = odd === undefined ? bytes : Uint8Array.from([odd, ...bytes])
    const count = whole.length >> 1
    this.#odd = whole.length & 1 ? whole.at(-1) : undefined
    const view = new DataView(whole.buffer, whole.byteOffset, whole.byteLength)
    const out = new Int16Array(count)
    for (let i = 0; i < count; i++) out[i] = view.getInt16(2 * i, true)
    this.samples += count
    return out
  }
}
