// Voice probabilities for a recording, window by window, as fast as the detector can: each block waits for the
// answers to the one before, so that nothing is dropped and no clock decides. Where there is no detector, or it
// stops answering, loudness tells voice from silence.
import { Deferred, Effect } from "effect"
import type { Scope } from "effect"
import { windowSamples } from "../ports/VoiceActivity.ts"
import type { VoiceActivity } from "../ports/VoiceActivity.ts"
import { energyOf } from "./UtteranceSegmenter.ts"

/** A window and the probability (0 to 1) of a voice in it. */
export interface VoicedWindow {
  readonly samples: Int16Array
  readonly probability: number
}

/** The windows of one recording, in order. */
export interface WindowVoices {
  /** Samples of any length at 16 kHz; the windows that they complete. */
  readonly read: (samples: Int16Array) => Effect.Effect<ReadonlyArray<VoicedWindow>>
  /** The last window, shorter than the others. */
  readonly rest: () => ReadonlyArray<VoicedWindow>
}

/** Longest wait for the answers to one block; only a dead detector takes it. */
const answerMs = 10_000

/** Never fails: without a detector the probabilities come from loudness. */
export const openWindowVoices = Effect.fnUntraced(function* (
  voiceActivity: VoiceActivity
): Effect.fn.Return<WindowVoices, never, Scope.Scope> {
  const answers = new Map<number, number>()
  let awaited = 0
  let answered = Deferred.makeUnsafe<void>()
  const onWindow = (probability: number, endSample: number): void => {
    answers.set(endSample, probability)
    if (endSample >= awaited) Deferred.doneUnsafe(answered, Effect.void)
  }
  let detector = yield* Effect.catch(voiceActivity.open(onWindow), () => Effect.undefined)
  const loudness = new Loudness()
  let held = new Int16Array(0)
  let endSample = 0
  let last = 0

  const voiced = (samples: Int16Array, end: number): VoicedWindow => {
    const loud = loudness.voice(samples)
    const probability = answers.get(end) ?? loud
    answers.delete(end)
    last = probability
    return { samples, probability }
  }

  return {
    read: Effect.fnUntraced(function* (samples) {
      const joined = new Int16Array(held.length + samples.length)
      joined.set(held)
      joined.set(samples, held.length)
      const count = Math.floor(joined.length / windowSamples)
      const firstEnd = endSample + windowSamples
      endSample += count * windowSamples
      held = joined.slice(count * windowSamples)
      if (detector !== undefined && samples.length > 0) {
        awaited = endSample
        answered = Deferred.makeUnsafe<void>()
        detector.push(samples)
        if (count > 0 && !answers.has(endSample)) {
          const late = yield* Effect.timeoutOption(Deferred.await(answered), answerMs)
          if (late._tag === "None") detector = undefined
        }
      }
      return Array.from({ length: count }, (_, i) =>
        voiced(joined.subarray(i * windowSamples, (i + 1) * windowSamples), firstEnd + i * windowSamples)
      )
    }),
    rest: () => (held.length === 0 ? [] : [{ samples: held, probability: last }])
  }
})

/** Voice is what stands out 12 dB above the quietest of the recent past, and above -50 dBFS at any rate. */
class Loudness {
  #floor = 104 ** 2

  voice(window: Int16Array): number {
    const energy = Math.max(1, energyOf(window))
    // Falls at once, rises 1 dB a second.
    this.#floor = Math.min(energy, this.#floor * 1.0072)
    return energy > Math.max(this.#floor * 16, 104 ** 2) ? 0.9 : 0.05
  }
}
