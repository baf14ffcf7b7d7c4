// POST /v1/voice-design: different voices for one description, each with a clip and a signature bound to the clip's bytes, by
// which it can be sent back to POST /model. Charged once for an answer; failures are free.
import { encodeWav, samplesOf } from "@parley/audio/Wav"
import { BadRequest } from "@parley/contract/Errors"
import { type VoiceCandidate, type VoiceDesign, voiceDesignModel } from "@parley/contract/speech/VoiceDesign"
import { describedVoice, featuresOf, seeded, type VoiceFeatures } from "@parley/speech/design/DescribedVoice"
import { type SpokenVoice, Synthesis, type SynthesisSettings } from "@parley/speech/Synthesis"
import { DesignSignatures } from "@parley/workspace/voices/DesignSignatures"
import { Billing } from "@parley/workspace/billing/Billing"
import { balanceSpent } from "@parley/workspace/billing/Meter"
import { Context, Effect, Layer, Stream } from "effect"
import { randomInt, randomUUID } from "node:crypto"
import { requestErrorOf, type SpeechRequestError } from "./requestErrors.ts"
import { SpeechPermits } from "./SpeechPermits.ts"

/** Voices made from a description. */
export class VoiceDesigner extends Context.Service<
  VoiceDesigner,
  {
    /** `model`: the header of that name, which must be `voice-design-1`. Audio is WAV, mono 24 kHz, in base64. */
    readonly design: (
      workspaceId: string,
      model: string | undefined,
      input: VoiceDesign
    ) => Effect.Effect<{ readonly candidates: ReadonlyArray<VoiceCandidate> }, SpeechRequestError>
  }
>()("@parley/app/VoiceDesigner") {
  static readonly layer: Layer.Layer<VoiceDesigner, never, DesignSignatures | Billing | SpeechPermits | Synthesis> =
    Layer.effect(
      VoiceDesigner,
      Effect.gen(function* () {
        const synthesis = yield* Synthesis
        const signatures = yield* DesignSignatures
        const billing = yield* Billing
        const permits = yield* SpeechPermits

        const candidate = Effect.fnUntraced(function* (
          workspaceId: string,
          input: VoiceDesign,
          seed: number,
          index: number
        ) {
          const random = seeded(seed + index * 7919)
          const features = featuresOf(input.instruction, random)
          const text = input.reference_text?.trim() || ownWords
          const samples = yield* clip(synthesis, text, voiceOf(features, random), input)
          const audio = encodeWav(samples, sampleRate)
          const id = `vd_${randomUUID().replaceAll("-", "")}`
          return {
            id,
            index,
            audio_base64: Buffer.from(audio).toString("base64"),
            sample_rate: sampleRate,
            duration_ms: Math.round((samples.length * 1000) / sampleRate),
            text,
            instruct: input.instruction,
            language: languageOf(input),
            signature: yield* signatures.sign({ workspaceId, candidateId: id, audio }),
            features
          } satisfies VoiceCandidate
        })

        return {
          design: Effect.fnUntraced(function* (workspaceId, model, input) {
            if (model !== voiceDesignModel) {
              return yield* new BadRequest({ message: `The header model must be ${voiceDesignModel}` })
            }
            const meter = yield* billing.meter(workspaceId, { kinds: ["voice_design"], model: voiceDesignModel })
            if (!meter.take(1)) return yield* balanceSpent
            yield* permits.take(workspaceId, meter.account.concurrency)
            const seed = input.seed ?? randomInt(2 ** 31)
            const candidates = yield* Effect.forEach(Array.from({ length: input.n }), (_, index) =>
              candidate(workspaceId, input, seed, index)
            ).pipe(meter.whilePaid)
            yield* meter.charge(1)
            return { candidates }
          }, Effect.scoped)
        }
      })
    )
}

const sampleRate = 24_000

const ownWords = "Hello, this is how I sound. I hope that you like my voice."

const languageOf = (input: VoiceDesign): string => input.language?.trim().toLowerCase() || "en"

/** The accent is the one thing that only a voice of the engine's own has. */
const voiceOf = (features: VoiceFeatures, random: () => number): SpokenVoice => ({
  id: features.accent === "scottish" ? "awb" : "",
  character: describedVoice(features, random)
})

const clip = Effect.fnUntraced(function* (
  synthesis: Synthesis["Service"],
  text: string,
  voice: SpokenVoice,
  input: VoiceDesign
) {
  const settings: SynthesisSettings = {
    voices: [voice],
    language: languageOf(input),
    format: { codec: "pcm", sampleRate },
    speed: Math.min(2, Math.max(0.5, input.speed)),
    volumeDb: 0,
    normalizeLoudness: true,
    normalize: true,
    latency: "normal",
    chunkLength: 300,
    minChunkLength: 50,
    cues: "none",
    timing: false,
    extra: {
      instruct: input.instruction,
      num_step: input.num_step,
      guidance_scale: input.guidance_scale,
      instruct_guidance_scale: input.instruct_guidance_scale
    }
  }
  const blocks = yield* synthesis
    .speak(settings, Stream.make({ _tag: "Text", text } as const))
    .pipe(Stream.runCollect, Effect.mapError(requestErrorOf))
  const bytes = Buffer.concat(blocks.flatMap((event) => (event._tag === "Audio" ? [event.bytes] : [])))
  return samplesOf(bytes)
})
