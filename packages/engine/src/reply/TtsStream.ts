// Phrases to sound: each phrase goes to the synthesizer when the one before was made, at most four
// seconds ahead of what is played. A phrase that cannot be spoken is left out by name, and the call lives.
import { type Cause, Effect, type Latch, Option, Queue, Stream } from "effect"
import { SpeechError } from "@parley/speech/ports/SpeechError"
import type { SpeechChunk, Synthesizer } from "@parley/speech/ports/Synthesizer"
import type { CallPlan } from "../CallPlan.ts"
import type { Playout } from "../playout/Playout.ts"
import { speakable } from "./PhraseCutter.ts"
import type { SpokenText } from "../playout/SpokenText.ts"

/** A piece of a reply's text, as the model wrote it. */
export interface Phrase {
  readonly segment: string
  readonly text: string
}

/** Where the sound comes from and where it goes. */
export interface TtsOptions {
  readonly synthesizer: Synthesizer
  readonly voice: CallPlan["voice"]
  readonly playout: Playout
  readonly spoken: SpokenText
  /** Opened by the playout when there is room again. */
  readonly room: Latch.Latch
  /** Words are told without sound. */
  readonly silent: boolean
  /** Called with every chunk; the first call counts. */
  readonly onFirstAudio: () => void
  readonly onFault: (error: SpeechError) => void
}

/** Silence of the synthesizer for this long, before or between chunks, ends a phrase. */
const gapMs = 8_000

/** Speaks until the queue ends, then marks the playout complete. */
export const speak = Effect.fnUntraced(function* (phrases: Queue.Dequeue<Phrase, Cause.Done>, options: TtsOptions) {
  let urgent = true
  for (;;) {
    const next = yield* Effect.option(Queue.take(phrases))
    if (Option.isNone(next)) break
    if (options.silent) tellOnly(next.value, options)
    else urgent = !(yield* say(next.value, urgent, options)) && urgent
    options.playout.phraseDone()
  }
  options.playout.complete = true
})

/** True when some audio came. */
const say = Effect.fnUntraced(function* (phrase: Phrase, urgent: boolean, options: TtsOptions) {
  const { playout, room, spoken, synthesizer } = options
  const { character, id: voice, language, speed } = options.voice
  const plain = speakable(phrase.text)
  const text = plain.trim()
  if (!/[\p{L}\p{N}]/u.test(text)) return false
  const start = playout.pushed
  spoken.begin(phrase.segment, phrase.text, start)
  const take = (chunk: SpeechChunk): Effect.Effect<void> => {
    if (chunk._tag === "Words") {
      spoken.words(chunk.words, plain.length - plain.trimStart().length)
      return Effect.void
    }
    options.onFirstAudio()
    if (playout.push(chunk.samples, chunk.sampleRate)) return Effect.void
    room.closeUnsafe()
    return room.await
  }
  const failure = yield* synthesizer.synthesize({ text, voice, character, speed, language, urgent }).pipe(
    Stream.timeoutOrElse({ duration: gapMs, orElse: () => Stream.fail(overdue(synthesizer.provider)) }),
    Stream.runForEach(take),
    Effect.as(null),
    Effect.catch((error) => Effect.succeed(error))
  )
  playout.flush()
  if (failure === null) spoken.finish(playout.pushed)
  else {
    spoken.breakOff(playout.pushed)
    options.onFault(failure)
  }
  return playout.pushed > start
})

const overdue = (provider: string): SpeechError =>
  new SpeechError({ reason: "Timeout", provider, message: "no audio within the bound" })

const tellOnly = (phrase: Phrase, { playout, spoken }: TtsOptions): void => {
  spoken.begin(phrase.segment, phrase.text, playout.pushed)
  playout.pushed += 1
  spoken.finish(playout.pushed)
}
