// Voice activity by plain loudness, or by a rule of the test's choice: synchronous by default, or after
// a delay on the Effect Clock. Deterministic, so a rehearsal says exactly when a voice begins.
import { Effect, Fiber } from "effect"
import type { VoiceActivity } from "../ports/VoiceActivity.ts"
import { windowSamples } from "../ports/VoiceActivity.ts"

export const makeScriptedVoiceActivity = (
  options: {
    /** Probability of a window from its peak amplitude and the milliseconds pushed up to its end. */
    readonly probability?: (peak: number, endMs: number) => number
    /** From the window's last sample to its probability. Default 0: inside `push`. */
    readonly delayMs?: number
  } = {}
): VoiceActivity => ({
  provider: "scripted",
  open: Effect.fnUntraced(function* (onWindow) {
    const probability = options.probability ?? ((peak: number) => (peak > 500 ? 0.98 : 0.01))
    const delayMs = options.delayMs ?? 0
    const fork = Effect.runForkWith(yield* Effect.context())
    const waiting = new Set<Fiber.Fiber<void>>()
    let isOpen = true
    yield* Effect.addFinalizer(() => {
      isOpen = false
      return Fiber.interruptAll(waiting)
    })
    let pushed = 0
    let peak = 0
    return {
      push: (samples) => {
        if (!isOpen) return
        for (const sample of samples) {
          peak = Math.max(peak, Math.abs(sample))
          if (++pushed % windowSamples !== 0) continue
          const endSample = pushed
          const value = probability(peak, endSample / 16)
          peak = 0
          if (delayMs === 0) {
            onWindow(value, endSample)
            continue
          }
          const fiber = fork(
            Effect.andThen(
              Effect.sleep(delayMs),
              Effect.sync(() => onWindow(value, endSample))
            )
          )
          waiting.add(fiber)
          fiber.addObserver(() => waiting.delete(fiber))
        }
      }
    }
  })
})
