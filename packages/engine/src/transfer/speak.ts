// One text spoken into a playout of its own, outside of any reply.
import { Effect, Stream } from "effect"
import type { Synthesizer } from "@parley/speech/ports/Synthesizer"
import type { CallPlan } from "../CallPlan.ts"
import { Playout } from "../playout/Playout.ts"

/**
 * Done when the last sample was played; what cannot be spoken is left out. `play` is given the playout at `rate` samples
 * per second before its first sample is there, and has to read it.
 */
export const speak = Effect.fnUntraced(function* (
  text: string,
  rate: number,
  plan: Pick<CallPlan, "voice">,
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
  yield* Effect.callback<void>((resume) => playout.whenSaid(() => resume(Effect.void)))
})
