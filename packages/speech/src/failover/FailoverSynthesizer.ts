// Several synthesizers as one. Before the first audio a failure moves on to the next provider; after it, the
// phrase ends with the error, because half a phrase cannot be said again.
import { Clock, Effect, Stream } from "effect"
import { SpeechError } from "../ports/SpeechError.ts"
import type { SpeechChunk, SynthesisRequest, Synthesizer } from "../ports/Synthesizer.ts"
import { defaultCoolDownMs, inOrder } from "./ProviderHealth.ts"
import type { Candidate, Present } from "./ProviderHealth.ts"

/** `coolDownMs`: how long a provider that failed is put aside. Fails with the last provider's error. */
export const makeFailoverSynthesizer = (
  candidates: ReadonlyArray<Candidate<Synthesizer>>,
  coolDownMs = defaultCoolDownMs
): Synthesizer => ({
  /** The one that would be asked first now, by the wall clock. */
  get provider() {
    return inOrder(candidates, Date.now())[0]?.provider ?? "none"
  },
  get clones() {
    return inOrder(candidates, Date.now())[0]?.adapter.clones === true
  },
  voices: candidates.flatMap((candidate) => candidate.adapter?.voices ?? []),
  synthesize: (request) =>
    Stream.unwrap(
      Effect.map(Clock.currentTimeMillis, (nowMs) => {
        const order = inOrder(candidates, nowMs)
        return order.length === 0 ? Stream.fail(nobody) : attempt(request, order, candidates, coolDownMs)
      })
    )
})

const attempt = (
  request: SynthesisRequest,
  [first, ...rest]: ReadonlyArray<Present<Synthesizer>>,
  all: ReadonlyArray<Candidate<Synthesizer>>,
  coolDownMs: number
): Stream.Stream<SpeechChunk, SpeechError> => {
  if (first === undefined) return Stream.fail(nobody)
  let hasAudio = false
  const silent = Stream.suspend(() =>
    hasAudio ? Stream.empty : Stream.fail(failure(first.provider, "InvalidOutput", "ended without audio"))
  )
  return first.adapter.synthesize({ ...request, voice: voiceFor(first, request.voice, all) }).pipe(
    Stream.map((chunk) => {
      if (chunk._tag === "Audio" && !hasAudio) {
        hasAudio = true
        first.served()
      }
      return chunk
    }),
    Stream.concat(silent),
    Stream.catch((error) =>
      Stream.unwrap(
        Effect.map(Clock.currentTimeMillis, (nowMs) => {
          first.failed(error, nowMs, coolDownMs)
          const over = !hasAudio && error.canFailOver && rest.length > 0
          return over ? attempt(request, rest, all, coolDownMs) : Stream.fail(error)
        })
      )
    )
  )
}

/** A voice that only another provider knows becomes this one's default. */
const voiceFor = (
  candidate: Present<Synthesizer>,
  voice: string,
  all: ReadonlyArray<Candidate<Synthesizer>>
): string => {
  const knows = (one: Candidate<Synthesizer>) => one.adapter?.voices.some(({ id }) => id === voice) === true
  return knows(candidate) || !all.some(knows) ? voice : ""
}

const failure = (provider: string, reason: "InvalidOutput" | "Unavailable", message: string): SpeechError =>
  new SpeechError({ reason, provider, message })

const nobody = failure("none", "Unavailable", "no speech synthesis is configured")
