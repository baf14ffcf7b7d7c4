// The private call with a colleague before a warm transfer: what the agent says to them, what they answer. Their leg is
// played on the process's tick; words are heard by the same recognisers as the caller's. Everything is bounded.
import { Deferred, Effect, type Scope, Stream } from "effect"
import type { Synthesizer } from "@parley/speech/ports/Synthesizer"
import type { CallPlan } from "../CallPlan.ts"
import * as AsrStream from "../asr/AsrStream.ts"
import { Pacer } from "../playout/Pacer.ts"
import { Playout } from "../playout/Playout.ts"
import type { CallParts } from "../ports/CallParts.ts"
import type { Leg } from "../leg/Leg.ts"
import { isMachineGreeting } from "../turn/machine.ts"
import { consentByKey, consentIn } from "./consent.ts"
import type { FrameSource } from "../leg/SwitchedLeg.ts"

export type Verdict = "yes" | "no" | "machine" | "silent" | "gone"

export interface Consultation {
  /** Done when it was heard to its end; what cannot be spoken is left out. */
  readonly say: (text: string) => Effect.Effect<void>
  /** `confirm`: a yes or a no; otherwise whatever they say counts as yes. */
  readonly ask: (confirm: boolean) => Effect.Effect<Verdict>
  /** Done when they hang up. */
  readonly gone: Effect.Effect<void>
  /** Their voice goes there from now on, and this is what they hear. */
  readonly join: (to: (samples: Int16Array) => void, source: FrameSource) => void
}

export interface ConsultationOptions {
  readonly plan: CallPlan
  readonly parts: CallParts["Service"]
  readonly leg: Leg
  readonly now: () => number
}

/** How long a colleague may think. */
const answerMs = 60_000
/** A spoken sentence takes no longer. */
const sayMs = 60_000
const pauseWindows = 8

export const make = Effect.fnUntraced(function* ({
  leg,
  now,
  parts,
  plan
}: ConsultationOptions): Effect.fn.Return<Consultation, never, Pacer | Scope.Scope> {
  const pacer = yield* Pacer
  const closed = yield* Deferred.make<void>()
  const frame = new Int16Array(leg.playRate / 50)
  let source: FrameSource | undefined
  let listener: ((said: string) => void) | undefined
  let onDigit: ((digit: string) => void) | undefined
  let joined: ((samples: Int16Array) => void) | undefined
  const ticking = {
    tick: () => leg.play(source?.read(frame) === true ? frame : undefined),
    idle: () => false,
    onBusy: () => undefined as void
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const leave = pacer.join(ticking)
      ticking.onBusy()
      return leave
    }),
    (leave) => Effect.sync(leave)
  )
  const ear =
    parts.transcriber === undefined
      ? undefined
      : yield* AsrStream.make({
          ...plan.hearing,
          transcriber: parts.transcriber,
          voiceActivity: parts.voiceActivity,
          pauseWindows,
          now,
          tell: (signal) => {
            if (signal._tag === "Final" && signal.text.trim() !== "") listener?.(signal.text)
          },
          onFault: () => undefined
        }).pipe(Effect.orElseSucceed(() => undefined))
  leg.attach({
    onFrame: (samples) => (joined === undefined ? ear?.hear(samples) : joined(samples)),
    onEvent: () => undefined,
    onDigit: (digit) => onDigit?.(digit),
    onClosed: () => Deferred.doneUnsafe(closed, Effect.void)
  })

  return {
    say: (text) =>
      speak(text, leg.playRate, plan, parts.synthesizer, (playout) => (source = playout)).pipe(
        Effect.timeoutOption(sayMs),
        Effect.raceFirst(Deferred.await(closed)),
        Effect.ensuring(Effect.sync(() => (source = undefined))),
        Effect.asVoid
      ),
    ask: (confirm) =>
      Effect.callback<Verdict>((resume) => {
        listener = (said) => {
          if (isMachineGreeting(said)) return resume(Effect.succeed("machine"))
          const verdict = confirm ? consentIn(said) : "yes"
          if (verdict !== "unclear") resume(Effect.succeed(verdict))
        }
        onDigit = (digit) => {
          const verdict = consentByKey(digit)
          if (verdict !== "unclear") resume(Effect.succeed(verdict))
        }
        return Effect.sync(() => {
          listener = undefined
          onDigit = undefined
        })
      }).pipe(
        Effect.timeoutOrElse({ duration: answerMs, orElse: () => Effect.succeed<Verdict>("silent") }),
        Effect.raceFirst(Effect.as(Deferred.await(closed), "gone" as const))
      ),
    gone: Deferred.await(closed),
    join: (to, from) => {
      joined = to
      source = from
    }
  }
})

/** Done when the last sample was played. */
export const speak = Effect.fnUntraced(function* (
  text: string,
  rate: number,
  plan: CallPlan,
  synthesizer: Synthesizer,
  play: (playout: Playout) => void
) {
  if (text.trim() === "") return
  const playout = new Playout(rate, () => undefined)
  play(playout)
  const { character, id, language, speed } = plan.voice
  yield* synthesizer.synthesize({ text, voice: id, character, speed, language, urgent: true }).pipe(
    Stream.runForEach((chunk) =>
      Effect.sync(() => void (chunk._tag === "Audio" && playout.push(chunk.samples, chunk.sampleRate)))
    ),
    Effect.ignore
  )
  playout.flush()
  playout.complete = true
  yield* Effect.repeat(Effect.sleep(20), { until: () => playout.drained })
})
