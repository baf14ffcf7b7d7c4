// The one desk behind every door that listens to a recording, of all three APIs: balance, concurrency, the
// recognition itself, and what it costs (audio seconds, rounded up; failures are free).
import type { BadGateway, BadRequest, PaymentRequired, TooManyRequests, Unavailable } from "@parley/contract/Errors"
import { asrModels } from "@parley/contract/speech/Transcript"
import { Recognition, type Recognised } from "@parley/speech/Recognition"
import type { AudioFault } from "@parley/speech/upload/UploadedAudio"
import { Billing } from "@parley/workspace/billing/Billing"
import { Context, Effect, Layer } from "effect"
import { requestErrorOf } from "./requestErrors.ts"
import { SpeechPermits } from "./SpeechPermits.ts"

export interface RecognitionRequest {
  readonly workspaceId: string
  /** Path of the recording. */
  readonly file: string
  /** ISO 639-1 hint; `""` for none. */
  readonly language: string
  readonly keyterms?: ReadonlyArray<string>
}

export type SpeechRequestError = PaymentRequired | TooManyRequests | BadRequest | BadGateway | Unavailable

export class RecognitionRequests extends Context.Service<
  RecognitionRequests,
  {
    /** A fault of the recording itself is told as it is: each API has its own words for it. */
    readonly recognise: (order: RecognitionRequest) => Effect.Effect<Recognised, SpeechRequestError | AudioFault>
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
          const account = yield* billing.admit(workspaceId, { kind: "asr", model: asrModels[0] })
          yield* permits.take(workspaceId, account.concurrency)
          const recognised = yield* recognition.recognise({ file, keyterms, language }).pipe(
            Effect.mapError((error) => (error._tag === "SpeechError" ? requestErrorOf(error) : error)),
            Effect.withSpan("asr.upstream")
          )
          const seconds = Math.ceil(recognised.durationMs / 1000)
          yield* billing.charge(workspaceId, { kind: "asr", model: asrModels[0], seconds })
          return recognised
        }, Effect.scoped)
      }
    })
  )
}
