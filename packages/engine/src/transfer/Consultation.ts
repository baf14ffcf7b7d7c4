// The private call with a colleague before a warm transfer: what the agent says to them, what they answer. Their leg is
// played on the process's tick; words are heard by the same recognisers as the caller's. Everything is bounded.
import { Cause, Deferred, Effect, type Scope } from "effect"
import * as AsrStream from "../asr/AsrStream.ts"
import type { CallContext } from "../CallContext.ts"
import { Pacer } from "../playout/Pacer.ts"
import type { CallParts } from "../ports/CallParts.ts"
import type { Leg } from "../leg/Leg.ts"
import { isVoicemailGreeting } from "../turn/voicemail.ts"
import { consentByKey, consentIn } from "./consent.ts"
import type { FrameSource } from "../leg/SwitchedLeg.ts"
import { faultOf, speak } from "./speak.ts"

/** What came of asking: `voicemail` when a machine answered, `silent` within a minute, `gone` when they hung up. */
export type ColleagueAnswer = "yes" | "no" | "voicemail" | "silent" | "gone"

/** A call with one colleague, under way. */
export interface Consultation {
  /** Done when it was heard to its end; what cannot be spoken is left out. */
  readonly say: (text: string) => Effect.Effect<void>
  /** `confirm`: a yes or a no; otherwise whatever they say counts as yes. */
  readonly ask: (confirm: boolean) => Effect.Effect<ColleagueAnswer>
  /** Done when they hang up. */
  readonly gone: Effect.Effect<void>
  /** Their voice goes there from now on, and this is what they hear. */
  readonly join: (to: (samples: Int16Array) => void, source: FrameSource) => void
}

/** For whose call, and with whom. */
export interface ConsultationOptions {
  readonly call: CallContext
  readonly parts: Pick<CallParts["Service"], "transcriber" | "voiceActivity" | "synthesizer">
  /** The colleague's. */
  readonly leg: Leg
}

/** How long a colleague may think. */
const answerMs = 60_000
/** A spoken sentence takes no longer. */
const sayMs = 60_000
const pauseWindows = 8

/** Plays to the colleague's leg, and hears it, for the length of the scope. */
export const make = Effect.fnUntraced(function* ({
  call,
  leg,
  parts
}: ConsultationOptions): Effect.fn.Return<Consultation, never, Pacer | Scope.Scope> {
  const pacer = yield* Pacer
  const closed = yield* Deferred.make<void>()
  const frame = new Int16Array(leg.playRate / 50)
  let source: FrameSource | undefined
  let listener: ((said: string) => void) | undefined
  let onDigit: ((digit: string) => void) | undefined
  let joined: ((samples: Int16Array) => void) | undefined
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      pacer.join({
        tick: () => leg.play(source?.read(frame) === true ? frame : undefined),
        onDefect: (defect) => call.onDefect(Cause.die(defect), "Consultation")
      })
    ),
    (leave) => Effect.sync(leave)
  )
  const speechInput =
    parts.transcriber === undefined
      ? undefined
      : yield* AsrStream.make({
          hearing: call.plan.hearing,
          transcriber: parts.transcriber,
          voiceActivity: parts.voiceActivity,
          pauseWindows,
          now: call.clock.now,
          tell: (signal) => {
            if (signal._tag === "Final" && signal.text.trim() !== "") listener?.(signal.text)
          },
          onFault: (name, data) => call.journal.note(`colleague_${name}`, data),
          onDefect: call.onDefect
          // Deaf, the colleague may still press a key.
        }).pipe(Effect.orElseSucceed(() => undefined))
  leg.attach({
    onFrame: (samples) => (joined === undefined ? speechInput?.hear(samples) : joined(samples)),
    onEvent: () => undefined,
    onDigit: (digit) => onDigit?.(digit),
    onClosed: () => Deferred.doneUnsafe(closed, Effect.void)
  })

  return {
    say: (text) =>
      speak(text, leg.playRate, call.plan, parts.synthesizer, (playout) => (source = playout)).pipe(
        Effect.map((failure) => failure && call.journal.fault("tts_failed", faultOf(failure))),
        Effect.timeoutOption(sayMs),
        Effect.raceFirst(Deferred.await(closed)),
        Effect.ensuring(Effect.sync(() => (source = undefined))),
        Effect.asVoid
      ),
    ask: (confirm) =>
      Effect.callback<ColleagueAnswer>((resume) => {
        listener = (said) => {
          if (isVoicemailGreeting(said)) return resume(Effect.succeed("voicemail"))
          const answer = confirm ? consentIn(said) : "yes"
          if (answer !== "unclear") resume(Effect.succeed(answer))
        }
        onDigit = (digit) => {
          const answer = consentByKey(digit)
          if (answer !== "unclear") resume(Effect.succeed(answer))
        }
        return Effect.sync(() => {
          listener = undefined
          onDigit = undefined
        })
      }).pipe(
        Effect.timeoutOrElse({ duration: answerMs, orElse: () => Effect.succeed<ColleagueAnswer>("silent") }),
        Effect.raceFirst(Effect.as(Deferred.await(closed), "gone" as const))
      ),
    gone: Deferred.await(closed),
    join: (to, from) => {
      joined = to
      source = from
    }
  }
})
