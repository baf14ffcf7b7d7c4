// Speech recognition of a call: frames in, "voice began", "voice paused", partial and final words out. Every
// committed utterance is answered by one `Final` within a bound, whatever the recogniser does; one that
// dies is reopened and given the running utterance again.
import { Cause, Deferred, Effect, Queue, Schedule, type Scope } from "effect"
import { SpeechError } from "@parley/speech/ports/SpeechError"
import type { Transcriber } from "@parley/speech/ports/Transcriber"
import type { VoiceActivity } from "@parley/speech/ports/VoiceActivity"
import type { CallPlan } from "../CallPlan.ts"
import { hearingRate } from "../leg/Leg.ts"
import type { Signal } from "../turn/Signal.ts"
import { cannotFail, forkSupervised, guarded, type OnDefect } from "../supervise.ts"
import { type DueAnswer, RecognitionState } from "./RecognitionState.ts"
import { SampleClock } from "./SampleClock.ts"
import * as Voicing from "./Voicing.ts"

/** What recognition of one speaker needs. */
export interface AsrOptions {
  /** The language and the words to favour. */
  readonly hearing: CallPlan["hearing"]
  readonly transcriber: Transcriber
  readonly voiceActivity: VoiceActivity
  /** Windows without voice that commit an utterance. */
  readonly pauseWindows: number
  /** Milliseconds since the call began. */
  readonly now: () => number
  readonly tell: (signal: Signal) => void
  readonly onFault: (name: string, data: Readonly<Record<string, unknown>>) => void
  readonly onDefect: OnDefect
}

/** Recognition of one speaker, under way. */
export interface AsrStream {
  /** One 20 ms frame at 16 kHz, on the media thread. Does not throw. */
  readonly hear: (frame: Int16Array) => void
}

/** A commit that is not answered by then is answered with the last partial, and the stream replaced. */
const finalBoundMs = 3_000
/** Attempts to open a recogniser, again after each successful one. */
const reopenTimes = 4
/** After the second stream in a row that is lost without an answer, and doubled with each further one. */
const lossPauseMs = 100
const longestPauseMs = 2_000
/** So many in a row without a single answer, over two utterances or more: recognition is gone for good. */
const mostLosses = 8

/** Names this child of a call in logs. */
const child = "AsrStream"

/**
 * Opens voice activity and a recogniser for the length of the scope. A recogniser that cannot be had any more is told
 * as `HearingLost`; one that throws is a defect. Fails when voice activity cannot be opened.
 */
export const make = Effect.fnUntraced(function* (
  options: AsrOptions
): Effect.fn.Return<AsrStream, SpeechError, Scope.Scope> {
  const { now, onDefect, onFault, pauseWindows, tell } = options
  const scope = yield* Effect.scope
  const clock = new SampleClock(hearingRate)
  const due = yield* Queue.unbounded<DueAnswer>()
  const state = new RecognitionState(tell, due)

  const onWindow = (probability: number, endSample: number): void => {
    const [next, change] = Voicing.step(state.voicing, probability, endSample, pauseWindows)
    state.voicing = next
    if (change === null) return
    if (change._tag === "Began") {
      tell({ _tag: "VoiceBegan", since: clock.timeOf(change.since) })
      state.utterance.begin((frame) => state.stream?.push(frame))
    } else state.commit(clock.timeOf(change.lastVoiced), now() + finalBoundMs)
  }

  const vad = yield* options.voiceActivity.open((probability, endSample) => {
    try {
      onWindow(probability, endSample)
    } catch (defect) {
      onDefect(Cause.die(defect), child)
    }
  })

  const gone = (error: SpeechError): void => {
    onFault("asr_gone", { reason: error.reason })
    tell({ _tag: "HearingLost" })
  }
  yield* forkSupervised(scope, Effect.forever(serve(state, options)), { child, onFailure: gone, onDefect })
  const bounded = Effect.forever(boundAnswer(state, due, options))
  yield* forkSupervised(scope, bounded, { child, onFailure: cannotFail, onDefect })

  const hear = (frame: Int16Array): void => {
    clock.arrived(frame.length, now())
    if (state.voicing.voiced) {
      state.utterance.say(frame)
      state.stream?.push(frame)
    } else state.utterance.wait(frame)
    vad.push(frame)
  }
  return { hear: guarded(child, onDefect, hear) }
})

/** One recogniser in a scope of its own, until it dies; fails when none opens or too many were lost in a row. */
const serve = (state: RecognitionState, { hearing, onDefect, onFault, transcriber }: AsrOptions) => {
  const open = Effect.suspend(() =>
    transcriber.open({
      ...hearing,
      onEvent: guarded(child, onDefect, (event) => state.onEvent(event)),
      onFailure: (error) => state.fail(error)
    })
  )
  return Effect.scoped(
    Effect.gen(function* () {
      state.broken = Deferred.makeUnsafe()
      const stream = yield* Effect.retry(open, {
        schedule: Schedule.exponential("100 millis"),
        times: reopenTimes,
        while: (error) => error.isRetryable
      })
      state.resume(stream)
      const lost = (yield* Deferred.await(state.broken)) ?? overdue(transcriber.provider)
      onFault("asr_stream_lost", { provider: transcriber.provider, reason: lost.reason })
      if (state.losses + 1 >= mostLosses) return yield* lost
    })
  ).pipe(
    Effect.ensuring(Effect.sync(() => (state.stream = null))),
    // One that opens and dies at once must not be asked as fast as it refuses.
    Effect.andThen(Effect.suspend(() => pauseAfterLosses(++state.losses)))
  )
}

const pauseAfterLosses = (losses: number): Effect.Effect<void> =>
  losses > 1 ? Effect.sleep(Math.min(longestPauseMs, lossPauseMs * 2 ** (losses - 2))) : Effect.void

/** Every utterance has its answer within the bound, from the recogniser or with what is known of it. */
const boundAnswer = (state: RecognitionState, due: Queue.Queue<DueAnswer>, { now, onFault }: AsrOptions) =>
  Effect.gen(function* () {
    const { dueAt, utterance } = yield* Queue.take(due)
    const left = dueAt - now()
    if (state.answered >= utterance) return
    if (left > 0) yield* Effect.sleep(left)
    if (state.answered >= utterance) return
    onFault("asr_final_overdue", { bound_ms: finalBoundMs })
    state.answerUpTo(utterance)
    state.fail(null)
  })

const overdue = (provider: string): SpeechError =>
  new SpeechError({ reason: "Timeout", provider, message: "no final text within the bound" })
