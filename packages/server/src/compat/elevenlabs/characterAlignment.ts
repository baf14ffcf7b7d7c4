// When each character sounds, on the timeline of the whole session. A chunk's times are sent once, when nothing can
// replace them any more: as the next chunk begins, after a flush, at the end.
import { type CharacterTimes, characterTimes } from "@parley/speech/synthesis/CharacterTimes"
import type { SynthesisEvent } from "@parley/speech/Synthesis"

/** Audio, or the times of a chunk's characters. */
export type AlignedPiece =
  | { readonly _tag: "Sound"; readonly bytes: Uint8Array }
  | { readonly _tag: "Times"; readonly alignment: CharacterTimes }

type Timing = Extract<SynthesisEvent, { readonly _tag: "Timing" }>

/** Times that may still be replaced. */
export type Pending = Timing | undefined

/** The state before the first event. */
export const begin = (): Pending => undefined

/** The next state and the pieces that are ready with this event. */
export const step = (pending: Pending, event: SynthesisEvent): readonly [Pending, ReadonlyArray<AlignedPiece>] => {
  switch (event._tag) {
    case "Audio": {
      const sound: AlignedPiece = { _tag: "Sound", bytes: event.bytes }
      return pending === undefined || pending.chunk === event.chunk
        ? [pending, [sound]]
        : [undefined, [...finish(pending), sound]]
    }
    case "Timing":
      return [event, pending === undefined || pending.chunk === event.chunk ? [] : finish(pending)]
    case "Flushed":
      return [undefined, finish(pending)]
  }
}

/** The times that are still pending when synthesis is over. */
export const finish = (pending: Pending): ReadonlyArray<AlignedPiece> => {
  if (pending === undefined || pending.content === "") return []
  const { characters, endsMs, startsMs } = characterTimes(pending.content, pending.words, pending.durationMs)
  const onTimeline = (times: ReadonlyArray<number>) => times.map((ms) => pending.offsetMs + ms)
  return [{ _tag: "Times", alignment: { characters, startsMs: onTimeline(startsMs), endsMs: onTimeline(endsMs) } }]
}

/** The REST form: seconds. */
export const inSeconds = ({ characters, endsMs, startsMs }: CharacterTimes) => ({
  characters,
  character_start_times_seconds: startsMs.map(seconds),
  character_end_times_seconds: endsMs.map(seconds)
})

/** The socket form: milliseconds, and how long instead of until when. */
export const inMilliseconds = ({ characters, endsMs, startsMs }: CharacterTimes) => ({
  chars: characters,
  charStartTimesMs: startsMs.map(Math.round),
  charDurationsMs: endsMs.map((end, i) => Math.max(0, Math.round(end) - Math.round(startsMs[i] ?? end)))
})

const seconds = (ms: number): number => Math.round(ms) / 1000
