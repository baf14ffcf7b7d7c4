// Where the time of one turn went, pure: the moments of a turn and its reply become named waits that sum to the whole.
// A moment that lies before the one it should follow (a speculative reply was ready early) costs nothing.
import type { TurnLatency } from "@parley/contract/TurnLatency"
import type { TurnClocks } from "../turn/Move.ts"

/** Moments of a reply, milliseconds since the call began; null until they come. */
export interface ReplyMarks {
  firstWord: number | null
  firstPhrase: number | null
  firstAudio: number | null
}

/** `startedAt`: the reply's first sample left for the caller. Milliseconds, rounded to a tenth. */
export const measure = (
  turnId: string,
  clocks: TurnClocks,
  marks: ReplyMarks,
  startedAt: number,
  speculative: boolean
): TurnLatency => {
  let reached = clocks.lastVoicedAt
  const wait = (moment: number | null): number => {
    const until = Math.max(reached, Math.min(moment ?? reached, startedAt))
    const waited = until - reached
    reached = until
    return round(waited)
  }
  return {
    turn_id: turnId,
    endpointing_ms: wait(clocks.waitedUntil),
    asr_final_ms: wait(clocks.decidedAt),
    llm_first_token_ms: wait(marks.firstWord),
    phrase_ms: wait(marks.firstPhrase),
    tts_first_audio_ms: wait(marks.firstAudio),
    playout_ms: wait(startedAt),
    total_ms: round(startedAt - clocks.lastVoicedAt),
    speculative
  }
}

const round = (ms: number): number => Math.round(ms * 10) / 10
