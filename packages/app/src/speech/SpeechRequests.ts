// The one desk behind every door that speaks, of all three APIs: who may, with which voice, what it costs. A door
// brings an order in the service's own words and paints what comes back; it holds none of these rules.
import type { BadGateway, BadRequest, PaymentRequired, TooManyRequests, Unavailable } from "@parley/contract/Errors"
import { utf8Length } from "@parley/contract/Field"
import type { TtsModel } from "@parley/contract/speech/TtsRequest"
import { Synthesis, type SpeechInput, type SpokenVoice, type SynthesisEvent } from "@parley/speech/Synthesis"
import type { SynthesisSettings } from "@parley/speech/Synthesis"
import { Billing } from "@parley/workspace/billing/Billing"
import { type Array as Arr, Context, Effect, Layer, Pull, type Scope, Stream } from "effect"
import { InlineVoices } from "./InlineVoices.ts"
import { requestErrorOf } from "./requestErrors.ts"
import { SpeechPermits } from "./SpeechPermits.ts"
import { VoiceChoice } from "./VoiceChoice.ts"

export interface SynthesisRequest {
  readonly workspaceId: string
  readonly model: TtsModel
  /** Voice model ids, platform voices, or `""` for the default; the first speaks unless the text says otherwise. */
  readonly voiceIds: ReadonlyArray<string>
  /** Recordings sent along; with any, they are the first voice. */
  readonly references: ReadonlyArray<{ readonly audio: Uint8Array; readonly text: string }>
  readonly settings: Omit<SynthesisSettings, "voices">
}

/** Before the first sound: a status of its own. After it: the stream breaks. */
export type SpeechRequestError = PaymentRequired | TooManyRequests | BadRequest | BadGateway | Unavailable

export interface Speaker {
  /** Once. Counts the text that sounded when it ends, however it ends. */
  readonly speak: (input: Stream.Stream<SpeechInput>) => Stream.Stream<SynthesisEvent, SpeechRequestError>
}

export class SpeechRequests extends Context.Service<
  SpeechRequests,
  {
    /** Checks balance, concurrency and voice. The seat is held until the scope closes. */
    readonly open: (order: SynthesisRequest) => Effect.Effect<Speaker, SpeechRequestError, Scope.Scope>
    /**
     * A whole text: comes back when the first event is there, so that what fails before it can still be said
     * with a status.
     */
    readonly speak: (
      order: SynthesisRequest,
      text: string
    ) => Effect.Effect<Stream.Stream<SynthesisEvent, SpeechRequestError>, SpeechRequestError, Scope.Scope>
  }
>()("@parley/app/SpeechRequests") {
  static readonly layer: Layer.Layer<
    SpeechRequests,
    never,
    InlineVoices | Billing | SpeechPermits | Synthesis | VoiceChoice
  > = Layer.effect(
    SpeechRequests,
    Effect.gen(function* () {
      const synthesis = yield* Synthesis
      const billing = yield* Billing
      const permits = yield* SpeechPermits
      const voices = yield* VoiceChoice
      const inline = yield* InlineVoices

      const open = Effect.fnUntraced(function* (order: SynthesisRequest) {
        const account = yield* billing.admit(order.workspaceId, { kind: "tts", model: order.model })
        yield* permits.take(order.workspaceId, account.concurrency)
        const sent = order.references.length > 0 ? [yield* inline.voiceOf(order.references)] : []
        const named = yield* Effect.forEach(order.voiceIds, (id) => voices.find(order.workspaceId, id))
        const [first = defaultVoice, ...rest] = [...sent, ...named]
        const settings: SynthesisSettings = { ...order.settings, voices: [first, ...rest] }
        return {
          speak: (input: Stream.Stream<SpeechInput>) =>
            Stream.suspend(() => {
              let given = 0
              let sounded = false
              const counted = Stream.tap(input, (piece) =>
                Effect.sync(() => {
                  if (piece._tag === "Text") given += utf8Length(piece.text)
                })
              )
              const charge = Effect.suspend(() => {
                if (!sounded) return Effect.void
                const usage = { kind: "tts", model: order.model, bytes: given } as const
                return Effect.andThen(billing.charge(order.workspaceId, usage), voices.used(order.voiceIds))
              })
              return synthesis.speak(settings, counted).pipe(
                Stream.tap((event) =>
                  Effect.sync(() => {
                    sounded ||= event._tag === "Audio"
                  })
                ),
                Stream.mapError(requestErrorOf),
                Stream.ensuring(charge)
              )
            })
        }
      })

      return {
        open,
        speak: Effect.fnUntraced(function* (order, text) {
          const speaker = yield* open(order)
          const pull = yield* Stream.toPull(speaker.speak(Stream.make({ _tag: "Text", text } as const)))
          return yield* begun(pull)
        })
      }
    })
  )
}

const defaultVoice: SpokenVoice = { id: "" }

/** The same stream once its first piece is there, or the failure that came instead. */
const begun = <A, E>(pull: Pull.Pull<Arr.NonEmptyReadonlyArray<A>, E, void>): Effect.Effect<Stream.Stream<A, E>, E> =>
  pull.pipe(
    Effect.map((first) => Stream.concat(Stream.fromIterable(first), Stream.fromPull(Effect.succeed(pull)))),
    Pull.catchDone(() => Effect.succeed(Stream.empty))
  )
