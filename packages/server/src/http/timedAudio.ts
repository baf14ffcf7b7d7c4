// Audio and word times side by side, as the endpoints with timestamps send them. `chunk_seq` counts chunks of text from 0;
// `alignment` is a snapshot of the whole chunk so far, in seconds from its start, and replaces the one before. Times of a chunk
// may become known after its audio: then an event without audio carries them.
import type { Alignment } from "@parley/contract/speech/SpeechTiming"
import type { SynthesisEvent, TimedWord } from "@parley/speech/Synthesis"

/** One event of a stream with timestamps; every field is always there. */
export interface TimedSound {
  /** Possibly empty. */
  readonly audio: Uint8Array
  readonly content: string
  readonly alignment: Alignment | null
  readonly chunk_seq: number
  readonly chunk_audio_offset_sec: number
}

type Timing = Extract<SynthesisEvent, { readonly _tag: "Timing" }>

/** The newest times of the chunk that sounds now. */
export type Known = Timing | undefined

/** The next state and the events of one piece of synthesis. */
export const step = (known: Known, event: SynthesisEvent): readonly [Known, ReadonlyArray<TimedSound>] => {
  switch (event._tag) {
    case "Audio": {
      const own = known?.chunk === event.chunk ? known : undefined
      return [own, [soundOf(event.bytes, event.chunk, event.offsetMs, own)]]
    }
    case "Timing":
      return [event, event.words.length === 0 ? [] : [soundOf(nothing, event.chunk, event.offsetMs, event)]]
    case "Flushed":
      return [known, []]
  }
}

const nothing = new Uint8Array(0)

const soundOf = (audio: Uint8Array, chunk: number, offsetMs: number, timing: Known): TimedSound => ({
  audio,
  content: timing?.content ?? "",
  alignment: timing === undefined || timing.words.length === 0 ? null : alignmentOf(timing),
  chunk_seq: chunk,
  chunk_audio_offset_sec: seconds(offsetMs)
})

const alignmentOf = ({ durationMs, words }: Timing): Alignment => ({
  segments: words.flatMap((word) => {
    const text = bare(word)
    return text === "" ? [] : [{ text, start: seconds(word.startMs), end: seconds(word.endMs) }]
  }),
  audio_duration: seconds(durationMs)
})

/** Without the punctuation around it, and without apostrophes. */
const bare = ({ text }: TimedWord): string =>
  text.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").replace(/['’ʼ]/gu, "")

/** To the millisecond. */
const seconds = (ms: number): number => Math.round(ms) / 1000
