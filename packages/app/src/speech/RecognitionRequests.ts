// Recognition of recordings for all three APIs: checks the balance and the limit of requests at the same time, recognises, and
// charges audio seconds, rounded up. Failures are free; a recognition that the balance ran out of is charged so far.
import { asrModels } from "@parley/contract/speech/Transcript"
import { Recognition, type Recognised } from "@parley/speech/Recognition"
import type { AudioFault } from "@parley/speech/upload/UploadedAudio"
import { Billing } from "@parley/workspace/billing/Billing"
import { balanceSpent } from "@parley/workspace/billing/Meter"
import { Context, Effect, Layer } from "effect"
import { requestErrorOf, type SpeechRequestError } from "./requestErrors.ts"
import { SpeechPermits } from "./SpeechPermits.ts"

/** A recording to recognise. */
export interface RecognitionRequest {
  readonly workspaceId: string
  /** Path of the recording. */
  readonly file: string
  /** ISO 639-1 hint; `""` for none. */
  readonly language: string
  readonly keyterms?: ReadonlyArray<string>
}

/** Recognition requests: admitted, served, charged. */
export class RecognitionRequests extends Context.Service<
  RecognitionRequests,
  {
    /**
     * Recognises the whole recording. Fails with AudioFault for the recording itself: each API has its own words for it.
     */
    readonly recognise: (request: RecognitionRequest) => Effect.Effect<Recognised, SpeechRequestError | AudioFault>
  }
>()("@parley/app/RecognitionRequests") {
  static readonly layer: Layer.Layer<RecognitionRequests, never, Billing | Recognition | SpeechPermits> = Layer.effect(
    RecognitionRequests,
    Effect.gen(function* () {
      const recognition = yield* Recognition
      const billing = yield* Billing
      const permits = yield* SpeechPermits
      return {
        recognise: Effect.fnUntraced(function* ({ file, keyterms = [], language, workspaceId }) {
          const meter = yield* billing.meter(workspaceId, { kinds: ["asr"], model: asrModels[0] })
          yield* permits.take(workspaceId, meter.account.concurrency)
          let seconds = 0
          const read = (durationMs: number): void => {
            seconds = durationMs / 1000
            meter.reached(seconds)
          }
          const recognised = yield* recognition.recognise({ file, keyterms, language, read }).pipe(
            Effect.mapError((error) => (error._tag === "SpeechError" ? requestErrorOf(error) : error)),
            Effect.withSpan("asr.upstream"),
            meter.whilePaid,
            Effect.tapError((error) => (error === balanceSpent ? meter.charge(Math.ceil(seconds)) : Effect.void))
          )
          yield* meter.charge(Math.ceil(recognised.durationMs / 1000))
          return recognised
        }, Effect.scoped)
      }
    })
  )
}
