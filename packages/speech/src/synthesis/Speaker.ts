// The actor behind `Synthesis`: one fiber asks the engine, chunk after chunk and at most two ahead of the reader;
// the reader's pull takes the samples through the sound line. Both live in the stream's scope: whoever stops
// reading stops the engine and frees the line.
import { Effect, Queue, Semaphore, Stream } from "effect"
import type { Scope } from "effect"
import type { SpeechError } from "../ports/SpeechError.ts"
import type { SpeechChunk, SynthesisRequest, WordTime } from "../ports/Synthesizer.ts"
import { SoundLines } from "../sound/SoundLines.ts"
import type { SoundLine } from "../sound/SoundLines.ts"
import { Speech } from "../Speech.ts"
import { normalise } from "../text/Normaliser.ts"
import type { SpeechInput, SynthesisEvent, SynthesisSettings, TimedWord } from "../Synthesis.ts"
import { Pauses } from "./Pauses.ts"
import { Script } from "./Script.ts"
import type { ScriptItem, ScriptedChunk } from "./Script.ts"
import { timeWords } from "./WordTimes.ts"

/** The chunk that is read, and those ahead of it. */
const chunksInWork = 3

export const makeSynthesis = Effect.gen(function* () {
  const { synthesizer } = yield* Speech
  const lines = yield* SoundLines
  // The rules of a language are made by their first use, which should be nobody's first words.
  for (const language of ["en", "de", "fr", "es"]) normalise("3,5 km, 20 $, 2025-12-31", language)
  return (settings: SynthesisSettings, input: Stream.Stream<SpeechInput>): Stream.Stream<SynthesisEvent, SpeechError> =>
    Stream.unwrap(
      Effect.gen(function* () {
        const work = yield* startEngine(settings, input, synthesizer.synthesize)
        const format = settings.format
        const line = yield* lines.open({ format, volumeDb: settings.volumeDb, level: settings.normalizeLoudness })
        return new Reader(work, line, settings.timing).events
      })
    )
})

type Work =
  | { readonly _tag: "Begin"; readonly chunk: ScriptedChunk }
  | SpeechChunk
  | { readonly _tag: "End" }
  | { readonly _tag: "Flush" }
  | { readonly _tag: "Finish" }

interface WorkQueue {
  readonly items: Queue.Dequeue<Work, SpeechError>
  /** The reader is through with a chunk or a flush: another one may begin. */
  readonly release: Effect.Effect<void>
}

const startEngine = Effect.fnUntraced(function* (
  settings: SynthesisSettings,
  input: Stream.Stream<SpeechInput>,
  synthesize: (request: SynthesisRequest) => Stream.Stream<SpeechChunk, SpeechError>
): Effect.fn.Return<WorkQueue, never, Scope.Scope> {
  // Bounded by the permits: what three chunks can hold.
  const queue = yield* Queue.unbounded<Work, SpeechError>()
  const permits = yield* Semaphore.make(chunksInWork)
  const script = new Script(settings)
  const put = (work: Work) => Queue.offer(queue, work)

  const speak = (chunk: ScriptedChunk) =>
    Stream.runForEach(cutOff(synthesize(requestFor(chunk, settings)), settings.longestChunkMs), put).pipe(
      Effect.withSpan("tts.inference")
    )

  const handle = Effect.fnUntraced(function* (item: ScriptItem) {
    yield* permits.take(1)
    if (item._tag === "Flush") return yield* put(item)
    const chunk = script.chunk(item)
    yield* put({ _tag: "Begin", chunk })
    if (chunk.sayable) yield* speak(chunk)
    return yield* put({ _tag: "End" })
  })

  yield* Stream.runForEach(input, (piece) => Effect.forEach(script.read(piece), handle, { discard: true })).pipe(
    Effect.andThen(Effect.suspend(() => Effect.forEach(script.finish(), handle, { discard: true }))),
    Effect.andThen(put({ _tag: "Finish" })),
    Effect.catchCause((cause) => Queue.failCause(queue, cause)),
    Effect.forkScoped
  )
  return { items: queue, release: permits.release(1) }
})

const requestFor = (chunk: ScriptedChunk, settings: SynthesisSettings): SynthesisRequest => {
  const voice = settings.voices[chunk.speaker] ?? settings.voices[0]
  return {
    text: chunk.form.text.trim(),
    voice: voice.id,
    character: voice.character,
    speed: settings.speed,
    language: chunk.language,
    urgent: chunk.first,
    words: settings.timing,
    extra: settings.extra
  }
}

/** Ends the engine's work where the chunk may not sound any longer. */
const cutOff = (
  sound: Stream.Stream<SpeechChunk, SpeechError>,
  longestMs: number | undefined
): Stream.Stream<SpeechChunk, SpeechError> => {
  if (longestMs === undefined) return sound
  return Stream.suspend(() => {
    let leftMs = longestMs
    const kept = (chunk: SpeechChunk): SpeechChunk => {
      if (chunk._tag === "Words") return chunk
      const samples = chunk.samples.subarray(0, Math.ceil((Math.max(0, leftMs) * chunk.sampleRate) / 1000))
      leftMs -= (samples.length * 1000) / chunk.sampleRate
      return { ...chunk, samples }
    }
    return Stream.takeUntil(Stream.map(sound, kept), () => leftMs <= 0)
  })
}

type Events = ReadonlyArray<SynthesisEvent>

/** What the listener gets, made step by step as it is pulled. Bytes that a codec held back go with the chunk of the moment. */
class Reader {
  readonly #work: WorkQueue
  readonly #line: SoundLine
  readonly #timing: boolean
  #number = -1
  #chunk: ScriptedChunk | undefined
  #offsetMs = 0
  #words: ReadonlyArray<WordTime> = []
  /** Silence put in front of the chunk, and whether its sound has begun. */
  #leadMs = 0
  #begun = false
  readonly #pauses = new Pauses()
  #finished = false

  constructor(work: WorkQueue, line: SoundLine, timing: boolean) {
    this.#work = work
    this.#line = line
    this.#timing = timing
  }

  get events(): Stream.Stream<SynthesisEvent, SpeechError> {
    const step = Effect.suspend(() => (this.#finished ? Effect.undefined : this.#next))
    return Stream.unfold(undefined, () => Effect.map(step, (events) => events && ([events, undefined] as const))).pipe(
      Stream.flattenIterable
    )
  }

  get #next(): Effect.Effect<Events, SpeechError> {
    return Effect.flatMap(Queue.take(this.#work.items), (work) => this.#after(work))
  }

  #after(work: Work): Effect.Effect<Events, SpeechError> {
    switch (work._tag) {
      case "Begin":
        this.#number++
        this.#chunk = work.chunk
        this.#offsetMs = this.#line.positionMs()
        this.#words = []
        this.#leadMs = 0
        this.#begun = false
        return this.#next
      case "Audio":
        return Effect.map(this.#line.write(this.#paced(work.samples, work.sampleRate), work.sampleRate), (bytes) =>
          this.#audio(bytes)
        )
      case "Words":
        this.#words = this.#inContent(work.words)
        return Effect.succeed(this.#words.length === 0 ? [] : this.#times())
      case "End":
        return Effect.as(this.#work.release, this.#times())
      case "Flush":
        this.#pauses.forget()
        return this.#drained
      case "Finish":
        this.#finished = true
        return Effect.map(this.#line.finish, (bytes) => this.#audio(bytes))
    }
  }

  /** The silence a drained codec adds belongs to the chunk before it. */
  get #drained(): Effect.Effect<Events, SpeechError> {
    const beforeMs = this.#line.positionMs()
    return Effect.map(Effect.tap(this.#line.drain, this.#work.release), (bytes): Events => [
      ...this.#audio(bytes),
      ...(this.#line.positionMs() > beforeMs ? this.#times() : []),
      { _tag: "Flushed" }
    ])
  }

  #audio(bytes: Uint8Array): Events {
    if (bytes.length === 0) return []
    return [{ _tag: "Audio", chunk: Math.max(0, this.#number), offsetMs: this.#offsetMs, bytes }]
  }

  #times(): Events {
    const chunk = this.#chunk
    if (!this.#timing || chunk === undefined) return []
    const durationMs = this.#line.positionMs() - this.#offsetMs
    const words = chunk.sayable ? this.#timed(chunk, durationMs) : []
    return [
      { _tag: "Timing", chunk: this.#number, offsetMs: this.#offsetMs, content: chunk.content, words, durationMs }
    ]
  }

  #timed(chunk: ScriptedChunk, durationMs: number): ReadonlyArray<TimedWord> {
    const words = timeWords(chunk, this.#words, durationMs - this.#leadMs)
    if (this.#leadMs === 0) return words
    const shift = (word: TimedWord): TimedWord =>
      Object.assign({}, word, { startMs: word.startMs + this.#leadMs, endMs: word.endMs + this.#leadMs })
    return words.map(shift)
  }

  /** The chunk's samples, the first ones after the pause that the chunk before calls for. */
  #paced(samples: Int16Array, sampleRate: number): Int16Array {
    const silence = this.#begun ? 0 : Math.round((this.#pauses.missingMs() * sampleRate) / 1000)
    this.#begun = true
    this.#pauses.heard(this.#chunk?.content ?? "", samples, sampleRate)
    if (silence === 0) return samples
    this.#leadMs = (silence * 1000) / sampleRate
    const paced = new Int16Array(silence + samples.length)
    paced.set(samples, silence)
    return paced
  }

  /** The engine got the spoken form without the blanks around it. */
  #inContent(words: ReadonlyArray<WordTime>): ReadonlyArray<WordTime> {
    const text = this.#chunk?.form.text ?? ""
    const shift = text.length - text.trimStart().length
    return shift === 0 ? words : words.map((word) => ({ ...word, from: word.from + shift, to: word.to + shift }))
  }
}
