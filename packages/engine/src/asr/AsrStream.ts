// The ear of a call: frames in, "voice began", "voice paused", partial and final words out. Every
// committed utterance is answered by one `Final` within a bound, whatever the recogniser does; one that
// dies is reopened and hears the running utterance again.
import { Deferred, Effect, FiberSet, Schedule, type Scope } from "effect"
import { SpeechError } from "@parley/speech/ports/SpeechError"
import type { TranscriptEvent, Transcriber, TranscriptionStream } from "@parley/speech/ports/Transcriber"
import type { VoiceActivity } from "@parley/speech/ports/VoiceActivity"
import { hearingRate } from "../leg/Leg.ts"
import type { Signal } from "../turn/Signal.ts"
import { SampleClock } from "./SampleClock.ts"
import { Utterance } from "./Utterance.ts"
import * as Voicing from "./Voicing.ts"

export interface AsrOptions {
  readonly language: string
  readonly keyterms: ReadonlyArray<string>
  readonly transcriber: Transcriber
  readonly voiceActivity: VoiceActivity
  /** Windows without voice that commit an utterance. */
  readonly pauseWindows: number
  readonly now: () => number
  readonly tell: (signal: Signal) => void
  readonly onFault: (name: string, data: Record<string, unknown>) => void
}

export interface AsrStream {
  /** One 20 ms frame at 16 kHz, on the media thread. */
  readonly hear: (frame: Int16Array) => void
}

/** A commit that is not answered by then is answered with the last partial, and the stream replaced. */
const finalBoundMs = 3_000
/** Attempts to open a recogniser, again after each successful one. */
const reopenTimes = 4
/** After the second stream in a row that is lost without an answer, and doubled with each further one. */
const lossPauseMs = 100
const longestPauseMs = 2_000
/** So many in a row without a single answer, over two utterances or more: the ear is gone for good. */
const mostLosses = 8

export const make = Effect.fnUntraced(function* (
  options: AsrOptions
): Effect.fn.Return<AsrStream, SpeechError, Scope.Scope> {
  const { now, onFault, pauseWindows, tell, transcriber } = options
  const clock = new SampleClock(hearingRate)
  const utterance = new Utterance()
  const bounds = yield* FiberSet.make<void>()
  const runBound = yield* FiberSet.runtime(bounds)()
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
    const mine = committed
    tell({ _tag: "VoicePaused", lastVoicedAt })
    stream?.commit()
    runBound(
      Effect.sleep(finalBoundMs).pipe(
        Effect.map(() => {
          if (answered >= mine) return
          onFault("asr_final_overdue", { bound_ms: finalBoundMs })
          for (let missing = mine - answered; missing > 0; missing--) answer(partial)
          fail(null)
        })
      )
    )
  }

  const onWindow = (probability: number, endSample: number): void => {
    const [next, change] = Voicing.step(voicing, probability, endSample, pauseWindows)
    voicing = next
    if (change === null) return
    if (change._tag === "Began") {
      tell({ _tag: "VoiceBegan", since: clock.timeOf(change.since) })
      utterance.begin((frame) => stream?.push(frame))
    } else commit(clock.timeOf(change.lastVoiced))
  }

  const vad = yield* options.voiceActivity.open(onWindow)

  const open = Effect.suspend(() =>
    transcriber.open({ language: options.language, keyterms: options.keyterms, onEvent, onFailure: fail })
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
  yield* Effect.forkScoped(Effect.catch(Effect.forever(serve), (error) => Effect.sync(() => gone(error))))

  return {
    hear: (frame) => {
      clock.arrived(frame.length, now())
      if (voicing.voiced) {
        utterance.say(frame)
        stream?.push(frame)
      } else utterance.wait(frame)
      vad.push(frame)
    }
  }
})

const overdue = (provider: string): SpeechError =>
  new SpeechError({ reason: "Timeout", provider, message: "no final text within the bound" })
