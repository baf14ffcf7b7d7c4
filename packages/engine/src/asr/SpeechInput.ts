// What a call does with the sound of its caller: frames go to recognition and, on calls where a machine may answer, to
// the detector of its beep. Without a recogniser the call is typed only.
import { ToneDetector } from "@parley/audio/ToneDetector"
import { Effect, type Scope } from "effect"
import type { SpeechError } from "@parley/speech/ports/SpeechError"
import type { CallContext } from "../CallContext.ts"
import type { CallParts } from "../ports/CallParts.ts"
import { guarded } from "../supervise.ts"
import * as AsrStream from "./AsrStream.ts"

/** The sound of one caller, taken in. */
export interface SpeechInput {
  /** One frame of the leg, on the media thread. Does not throw. */
  readonly hear: (frame: Int16Array) => void
}

/**
 * Windows (32 ms) without voice that commit an utterance. Two where a reply may be begun on it at once and the
 * recogniser follows along; a recogniser that is asked utterance by utterance gets whole ones.
 */
const pauseWindows = (speculative: boolean, streaming: boolean): number => (streaming ? (speculative ? 2 : 6) : 8)

/** For the length of the scope. */
export const make = Effect.fnUntraced(function* (
  call: CallContext,
  { transcriber, voiceActivity }: Pick<CallParts["Service"], "transcriber" | "voiceActivity">
): Effect.fn.Return<SpeechInput, SpeechError, Scope.Scope> {
  const { clock, journal, onDefect, plan, tell } = call
  const { speculativeResponse, voicemail } = plan.conversation
  if (transcriber === undefined) journal.fault("no_transcriber", {})
  const asr =
    transcriber === undefined
      ? undefined
      : yield* AsrStream.make({
          hearing: plan.hearing,
          transcriber,
          voiceActivity,
          pauseWindows: pauseWindows(speculativeResponse, transcriber.streaming),
          now: clock.now,
          tell,
          onFault: journal.fault,
          onDefect
        })
  const beeps = voicemail === undefined ? undefined : new ToneDetector(() => tell({ _tag: "BeepHeard" }))
  return {
    hear: guarded("SpeechInput", onDefect, (frame) => {
      asr?.hear(frame)
      beeps?.hear(frame)
    })
  }
})
