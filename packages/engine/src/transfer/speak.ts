// One text spoken into a playout of its own, outside of any reply.
import { Effect, Stream } from "effect"
import type { SpeechError } from "@parley/speech/ports/SpeechError"
import type { Synthesizer } from "@parley/speech/ports/Synthesizer"
import type { CallPlan } from "../CallPlan.ts"
import { Playout } from "../playout/Playout.ts"

/**
 * Done when the last sample was played; what cannot be spoken is left out, and why is returned. `play` is given the playout at `rate` samples
 * per second before its first sample is there, and has to read it.
 */
export const speak = Effect.fnUntraced(function* (
  text: string,
  rate: number,
  plan: Pick<CallPlan, "voice">,
  synthesizer: Synthesizer,
  play: (playout: Playout) => void
): Effect.fn.Return<SpeechError | null> {
  if (text.trim() === "") return null
  const playout = new Playout(rate, () => undefined)
  play(playout)
  const { character, id, language, speed } = plan.voice
  const failure = yield* synthesizer.synthesize({ text, voice: id, character, speed, language, urgent: true }).pipe(
    Stream.runForEach((chunk) =>
      Effect.sync(() => void (chunk._tag === "Audio" && playout.push(chunk.samples, chunk.sampleRate)))
    ),
    Effect.as(null),
    Effect.catch((error) => Effect.succeed(error))
  )
  playout.flush()
  playout.complete = true
  yield* Effect.callback<void>((resume) => playout.whenSaid(() => resume(Effect.void)))
  return failure
})

/** As the journal has it. */
export const faultOf = ({ provider, reason }: SpeechError) => ({ reason, provider })
