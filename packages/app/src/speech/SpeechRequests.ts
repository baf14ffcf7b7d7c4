// Synthesis for all three APIs: checks the balance, the limit of requests at the same time and the voice, speaks, and charges.
// An API brings a request in the service's own words and writes the answer; it holds none of these rules. Text that the balance
// does not cover is not taken; a request whose balance is spent meanwhile fails with 402.
import { utf8Length } from "@parley/contract/Field"
import type { TtsModel } from "@parley/contract/speech/TtsRequest"
import { Synthesis, type SpeechInput, type SpokenVoice, type SynthesisEvent } from "@parley/speech/Synthesis"
import type { SynthesisSettings } from "@parley/speech/Synthesis"
import type { PaymentRequired } from "@parley/contract/Errors"
import { Billing } from "@parley/workspace/billing/Billing"
import { balanceSpent } from "@parley/workspace/billing/Meter"
import { type Array as Arr, Context, Deferred, Effect, Layer, Pull, type Scope, Stream } from "effect"
import { InlineVoices } from "./InlineVoices.ts"
import { requestErrorOf, type SpeechRequestError } from "./requestErrors.ts"
import { SpeechPermits } from "./SpeechPermits.ts"
import { VoiceChoice } from "./VoiceChoice.ts"

/** What is to be spoken, but for the text. */
export interface SynthesisRequest {
  readonly workspaceId: string
  readonly model: TtsModel
  /** Voice model ids, platform voices, or `""` for the default; the first speaks unless the text says otherwise. */
  readonly voiceIds: ReadonlyArray<string>
  /** Recordings sent along; with any, they are the first voice. */
  readonly references: ReadonlyArray<{ readonly audio: Uint8Array; readonly text: string }>
  readonly settings: Omit<SynthesisSettings, "voices">
}

/** A request that was admitted. */
export interface Speaker {
  /**
   * May be called once. When the stream ends, however it ends, the text given so far is charged, in UTF-8 bytes; nothing
   * when no audio was made.
   */
  readonly speak: (input: Stream.Stream<SpeechInput>) => Stream.Stream<SynthesisEvent, SpeechRequestError>
}

/** Speech requests: admitted, served, charged. */
export class SpeechRequests extends Context.Service<
  SpeechRequests,
  {
    /** Checks balance, concurrency and voice. Its place is kept until the scope closes. */
    readonly open: (request: SynthesisRequest) => Effect.Effect<Speaker, SpeechRequestError, Scope.Scope>
    /**
     * A whole text: returns when the first event is there, so that what fails before it can still be answered with a
     * status.
     */
    readonly speak: (
      request: SynthesisRequest,
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

      const open = Effect.fnUntraced(function* (request: SynthesisRequest) {
        const meter = yield* billing.meter(request.workspaceId, { kinds: ["tts"], model: request.model })
        yield* permits.take(request.workspaceId, meter.account.concurrency)
        const sent = request.references.length > 0 ? [yield* inline.voiceOf(request.references)] : []
        const named = yield* Effect.forEach(request.voiceIds, (id) => voices.find(request.workspaceId, id))
        const [first = defaultVoice, ...rest] = [...sent, ...named]
        const settings: SynthesisSettings = { ...request.settings, voices: [first, ...rest] }
        return {
          speak: (input: Stream.Stream<SpeechInput>) =>
            Stream.suspend(() => {
              let given = 0
              let sounded = false
              const uncovered = Deferred.makeUnsafe<never, PaymentRequired>()
              const take = (bytes: number) =>
                Effect.suspend(() => {
                  if (!meter.take(bytes))
                    return Deferred.fail(uncovered, balanceSpent).pipe(Effect.andThen(Effect.never))
                  given += bytes
                  return Effect.void
                })
              const counted = Stream.tap(input, (piece) =>
                piece._tag === "Text" ? take(utf8Length(piece.text)) : Effect.void
              )
              const charge = Effect.suspend(() => {
                if (!sounded) return Effect.void
                return Effect.andThen(meter.charge(given), voices.used(request.voiceIds))
              })
              return synthesis.speak(settings, counted).pipe(
                Stream.tap((event) =>
                  Effect.sync(() => {
                    sounded ||= event._tag === "Audio"
                  })
                ),
                Stream.mapError(requestErrorOf),
                Stream.interruptWhen(Effect.raceFirst(meter.spent, Deferred.await(uncovered))),
                Stream.ensuring(charge)
              )
            })
        }
      })

      return {
        open,
        speak: Effect.fnUntraced(function* (request, text) {
          const speaker = yield* open(request)
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
