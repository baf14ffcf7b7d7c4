// Speech recognition of a call: frames in, "voice began", "voice paused", partial and final words out. Every
// committed utterance is answered by one `Final` within a bound, whatever the recogniser does; one that
// dies is reopened and given the running utterance again.
import { Cause, Deferred, Effect, Queue, Schedule, type Scope } from "effect"
import { SpeechError } from "@parley/speech/ports/SpeechError"
import type { TranscriptEvent, Transcriber, TranscriptionStream } from "@parley/speech/ports/Transcriber"
import type { VoiceActivity } from "@parley/speech/ports/VoiceActivity"
import type { CallPlan } from "../CallPlan.ts"
import { hearingRate } from "../leg/Leg.ts"
import type { Signal } from "../turn/Signal.ts"
import { cannotFail, forkSupervised, guarded, type OnDefect } from "../supervise.ts"
import { SampleClock } from "./SampleClock.ts"
import { Utterance } from "./Utterance.ts"
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

/**
 * Opens voice activity and a recogniser for the length of the scope. A recogniser that cannot be had any more is told
 * as `HearingLost`; one that throws is a defect. Fails when voice activity cannot be opened.
 */
export const make = Effect.fnUntraced(function* (
  options: AsrOptions
): Effect.fn.Return<AsrStream, SpeechError, Scope.Scope> {
  const { now, onDefect, onFault, pauseWindows, tell, transcriber } = options
  const child = "AsrStream"
  const scope = yield* Effect.scope
  const clock = new SampleClock(hearingRate)
  const utterance = new Utterance()
  const unanswered = yield* Queue.unbounded<{ readonly utterance: number; readonly dueAt: number }>()
  let voicing = Voicing.quiet
  let stream: TranscriptionStream | null = null
  let broken = yield* Deferred.make<SpeechError | null>()
  let committed = 0
  let answered = 0
  let partial = ""
  let losses = 0

  const answer = (text: string): void => {
    answered++
    partial = ""
    if (!voicing.voiced && answered === committed) utterance.forget()
    tell({ _tag: "Final", text })
  }

  const onEvent = (event: TranscriptEvent): void => {
    if (event._tag === "Final") {
      losses = 0
      if (answered < committed) answer(event.text)
    } else if (event.text !== partial) {
      partial = event.text
      tell({ _tag: "Partial", text: event.text })
    }
  }

  const fail = (error: SpeechError | null): void => {
    stream = null
    Deferred.doneUnsafe(broken, Effect.succeed(error))
  }

  const commit = (lastVoicedAt: number): void => {
    committed++
    tell({ _tag: "VoicePaused", lastVoicedAt })
    Queue.offerUnsafe(unanswered, { utterance: committed, dueAt: now() + finalBoundMs })
    stream?.commit()
  }

  /** Every utterance has its answer within the bound, from the recogniser or with what is known of it. */
  const bounds = Effect.gen(function* () {
    const { dueAt, utterance: mine } = yield* Queue.take(unanswered)
    const left = dueAt - now()
    if (answered >= mine) return
    if (left > 0) yield* Effect.sleep(left)
    if (answered >= mine) return
    onFault("asr_final_overdue", { bound_ms: finalBoundMs })
    for (let missing = mine - answered; missing > 0; missing--) answer(partial)
    fail(null)
  })

  const onWindow = (probability: number, endSample: number): void => {
    const [next, change] = Voicing.step(voicing, probability, endSample, pauseWindows)
    voicing = next
    if (change === null) return
    if (change._tag === "Began") {
      tell({ _tag: "VoiceBegan", since: clock.timeOf(change.since) })
      utterance.begin((frame) => stream?.push(frame))
    } else commit(clock.timeOf(change.lastVoiced))
  }

  const vad = yield* options.voiceActivity.open((probability, endSample) => {
    try {
      onWindow(probability, endSample)
    } catch (defect) {
      onDefect(Cause.die(defect), child)
    }
  })

  const open = Effect.suspend(() =>
    transcriber.open({ ...options.hearing, onEvent: guarded(child, onDefect, onEvent), onFailure: fail })
  )

  /** One recogniser after another, each in a scope of its own, until none opens. */
  const serve = Effect.scoped(
    Effect.gen(function* () {
      broken = Deferred.makeUnsafe()
      const fresh = yield* Effect.retry(open, {
        schedule: Schedule.exponential("100 millis"),
        times: reopenTimes,
        while: (error) => error.isRetryable
      })
      stream = fresh
      // What was being said when the last one died is heard again; its unanswered commits too.
      if (voicing.voiced || answered < committed) utterance.replay((frame) => fresh.push(frame))
      for (let i = answered; i < committed; i++) fresh.commit()
      const error = yield* Deferred.await(broken)
      const lost = error ?? overdue(transcriber.provider)
      onFault("asr_stream_lost", { provider: transcriber.provider, reason: lost.reason })
      if (losses + 1 >= mostLosses) return yield* lost
    })
  ).pipe(
    Effect.ensuring(Effect.sync(() => (stream = null))),
    // One that opens and dies at once must not be asked as fast as it refuses.
    Effect.andThen(
      Effect.suspend(() =>
        ++losses > 1 ? Effect.sleep(Math.min(longestPauseMs, lossPauseMs * 2 ** (losses - 2))) : Effect.void
      )
    )
  )

  const gone = (error: SpeechError): void => {
    onFault("asr_gone", { reason: error.reason })
    tell({ _tag: "HearingLost" })
  }
  yield* forkSupervised(scope, Effect.forever(serve), { child, onFailure: gone, onDefect })
  yield* forkSupervised(scope, Effect.forever(bounds), { child, onFailure: cannotFail, onDefect })

  const hear = (frame: Int16Array): void => {
    clock.arrived(frame.length, now())
    if (voicing.voiced) {
      utterance.say(frame)
      stream?.push(frame)
    } else utterance.wait(frame)
    vad.push(frame)
  }
  return { hear: guarded(child, onDefect, hear) }
})

const overdue = (provider: string): SpeechError =>
  new SpeechError({ reason: "Timeout", provider, message: "no final text within the bound" })
