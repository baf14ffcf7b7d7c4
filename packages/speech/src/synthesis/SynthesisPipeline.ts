// The actor behind `Synthesis`: one fiber has the engine speak chunk after chunk, at most two ahead of the reader and
// two at once, though nothing beside words that somebody waits for; the reader's pull takes the samples, chunk by
// chunk, through the encoder. All of it lives in the stream's scope: whoever stops reading stops the engine and
// frees the encoder.
import { Effect, Latch, Option, Pull, Queue, Semaphore, Stream } from "effect"
import type { Cause, Scope, Tracer } from "effect"
import type { SpeechError } from "../ports/SpeechError.ts"
import type { SpeechChunk, SynthesisRequest, WordTime } from "../ports/Synthesizer.ts"
import { EncoderPool } from "../encoding/EncoderPool.ts"
import type { OutputEncoder } from "../encoding/EncoderPool.ts"
import { Speech } from "../Speech.ts"
import { normalise } from "../text/normaliser/Normaliser.ts"
import type { SpeechInput, SynthesisEvent, SynthesisSettings, TimedWord } from "./SynthesisRequest.ts"
import { Pauses } from "./Pauses.ts"
import { Script } from "./Script.ts"
import type { ScriptItem, ScriptedChunk } from "./Script.ts"
import { timeWords } from "./WordTimes.ts"

/** The chunk that is read, and those ahead of it. */
const chunksInWork = 3
/** Asked of the engine at the same time. */
const chunksAtOnce = 2

export const makeSynthesisPipeline = Effect.gen(function* () {
  const { synthesizer } = yield* Speech
  const encoders = yield* EncoderPool
  // The rules of a language are made by their first use, which should be nobody's first words.
  for (const language of ["en", "de", "fr", "es"]) normalise("3,5 km, 20 $, 2025-12-31", language)
  return (settings: SynthesisSettings, input: Stream.Stream<SpeechInput>): Stream.Stream<SynthesisEvent, SpeechError> =>
    Stream.unwrap(
      Effect.gen(function* () {
        const work = yield* startEngine(settings, input, synthesizer.synthesize)
        const format = settings.format
        const encoder = yield* encoders.open({ format, volumeDb: settings.volumeDb, level: settings.normalizeLoudness })
        const parent = Option.getOrUndefined(yield* Effect.option(Effect.currentParentSpan))
        return new Reader(work, encoder, settings.timing, parent).events
      })
    )
})

type Sound = Queue.Queue<SpeechChunk, SpeechError | Cause.Done>

type Work =
  | { readonly _tag: "Chunk"; readonly chunk: ScriptedChunk; readonly sound: Sound }
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
  const scope = yield* Effect.scope
  const engine = yield* Semaphore.make(chunksAtOnce)
  const queue = yield* Queue.unbounded<Work, SpeechError>()
  const permits = yield* Semaphore.make(chunksInWork)
  const script = new Script(settings)
  const put = (work: Work) => Queue.offer(queue, work)

  const speak = Effect.fnUntraced(function* (chunk: ScriptedChunk, sound: Sound, begun: Latch.Latch) {
    const spoken = cutOff(synthesize(requestFor(chunk, settings)), settings.longestChunkMs)
    return yield* Stream.runForEach(spoken, (piece) => Effect.andThen(Queue.offer(sound, piece), begun.open)).pipe(
      Effect.withSpan("tts.inference"),
      Effect.andThen(Queue.end(sound)),
      Effect.catchCause((cause) => Queue.failCause(sound, cause)),
      Effect.ensuring(begun.open)
    )
  })

  const handle = Effect.fnUntraced(function* (item: ScriptItem) {
    yield* permits.take(1)
    if (item._tag === "Flush") return yield* put(item)
    const chunk = script.chunk(item)
    const sound = yield* Queue.unbounded<SpeechChunk, SpeechError | Cause.Done>()
    yield* put({ _tag: "Chunk", chunk, sound })
    if (!chunk.sayable) return yield* Queue.end(sound)
    const begun = yield* Latch.make()
    yield* engine.take(1)
    yield* speak(chunk, sound, begun).pipe(
      Effect.ensuring(engine.release(1)),
      Effect.forkIn(scope, { startImmediately: true })
    )
    return yield* chunk.first ? begun.await : Effect.void
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

/** What the reader gets, made step by step as it is pulled. Bytes that a codec held back go with the chunk of the moment. */
class Reader {
  readonly #work: WorkQueue
  readonly #encoder: OutputEncoder
  readonly #timing: boolean
  /** Of the request, which may be answered, though not to its end, when words are aligned. */
  readonly #parent: Tracer.AnySpan | undefined
  #number = -1
  /** Of the chunk that is read, until its end. */
  #sound: Sound | undefined
  #chunk: ScriptedChunk | undefined
  #offsetMs = 0
  #words: ReadonlyArray<WordTime> = []
  /** Silence put in front of the chunk, and whether its sound has begun. */
  #leadMs = 0
  #begun = false
  readonly #pauses = new Pauses()
  #finished = false

  constructor(work: WorkQueue, encoder: OutputEncoder, timing: boolean, parent: Tracer.AnySpan | undefined) {
    this.#work = work
    this.#parent = parent
    this.#encoder = encoder
    this.#timing = timing
  }

  get events(): Stream.Stream<SynthesisEvent, SpeechError> {
    const step = Effect.suspend(() => (this.#finished ? Effect.undefined : this.#next))
    return Stream.unfold(undefined, () => Effect.map(step, (events) => events && ([events, undefined] as const))).pipe(
      Stream.flattenIterable
    )
  }

  get #next(): Effect.Effect<Events, SpeechError> {
    const sound = this.#sound
    if (sound === undefined) return Effect.flatMap(Queue.take(this.#work.items), (work) => this.#after(work))
    return Effect.flatMap(Queue.take(sound), (piece) => this.#encoded(piece)).pipe(
      Pull.catchDone(() => {
        this.#sound = undefined
        return Effect.andThen(this.#work.release, this.#times)
      })
    )
  }

  #after(work: Work): Effect.Effect<Events, SpeechError> {
    switch (work._tag) {
      case "Chunk":
        this.#number++
        this.#chunk = work.chunk
        this.#sound = work.sound
        this.#offsetMs = this.#encoder.positionMs()
        this.#words = []
        this.#leadMs = 0
        this.#begun = false
        return this.#next
      case "Flush":
        this.#pauses.forget()
        return this.#drained
      case "Finish":
        this.#finished = true
        return Effect.map(this.#encoder.finish, (bytes) => this.#audio(bytes))
    }
  }

  #encoded(piece: SpeechChunk): Effect.Effect<Events, SpeechError> {
    if (piece._tag === "Words") {
      this.#words = this.#inContent(piece.words)
      return this.#words.length === 0 ? Effect.succeed([]) : this.#times
    }
    const paced = this.#paced(piece.samples, piece.sampleRate)
    return Effect.map(this.#encoder.write(paced, piece.sampleRate), (bytes) => this.#audio(bytes))
  }

  /** The silence a drained codec adds belongs to the chunk before it. */
  get #drained(): Effect.Effect<Events, SpeechError> {
    const beforeMs = this.#encoder.positionMs()
    return Effect.flatMap(Effect.tap(this.#encoder.drain, this.#work.release), (bytes) => {
      const times: Effect.Effect<Events> = this.#encoder.positionMs() > beforeMs ? this.#times : Effect.succeed([])
      return Effect.map(times, (timing): Events => [...this.#audio(bytes), ...timing, { _tag: "Flushed" }])
    })
  }

  #audio(bytes: Uint8Array): Events {
    if (bytes.length === 0) return []
    return [{ _tag: "Audio", chunk: Math.max(0, this.#number), offsetMs: this.#offsetMs, bytes }]
  }

  get #times(): Effect.Effect<Events> {
    const chunk = this.#chunk
    if (!this.#timing || chunk === undefined) return Effect.succeed([])
    return Effect.withSpan(
      Effect.sync(() => this.#aligned(chunk)),
      "tts.align",
      { parent: this.#parent }
    )
  }

  #aligned(chunk: ScriptedChunk): Events {
    const durationMs = this.#encoder.positionMs() - this.#offsetMs
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
    this.#pauses.follow(this.#chunk?.content ?? "", samples, sampleRate)
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
