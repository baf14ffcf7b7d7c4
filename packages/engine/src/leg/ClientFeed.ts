// What the client of a call is told while it goes on: states, both transcripts, tool events, latencies, and faults in
// words without provider or cause. One-way; nothing here waits.
import type { AgentEvent, AgentState } from "@parley/contract/ClientEvent"
import type { TurnLatency } from "@parley/contract/TurnLatency"
import type { Leg } from "./Leg.ts"

/** What a client may be told; each function sends one message. */
export interface ClientFeed {
  readonly state: (state: AgentState) => void
  /** The caller's words so far in this turn; replaces what was told before. */
  readonly caller: (turn: string, text: string, final: boolean) => void
  /** Words of the agent that were just heard. */
  readonly agent: (segment: string, delta: string) => void
  /** No more of this segment; told only when some of it was. */
  readonly agentDone: (segment: string) => void
  readonly event: (event: AgentEvent) => void
  readonly latency: (latency: TurnLatency) => void
  /** A fault by its name in the journal; those of providers are told, the same one not again within 5 s. */
  readonly fault: (name: string) => void
}

const providerFaults: Readonly<Record<string, string>> = {
  no_transcriber: "no speech recognition",
  asr_stream_lost: "speech recognition failed",
  asr_final_overdue: "speech recognition failed",
  tts_failed: "speech synthesis failed",
  llm_failed: "the language model failed"
}
/** The same news is not told again within this time. */
const faultPauseMs = 5_000

/** `now`: milliseconds since the call began. */
export const make = (leg: Pick<Leg, "tell">, now: () => number): ClientFeed => {
  const begun = new Set<string>()
  const faultToldAt = new Map<string, number>()
  const event = (told: AgentEvent): void => leg.tell({ _tag: "Event", event: told })
  return {
    state: (state) => leg.tell({ _tag: "State", state }),
    caller: (segmentId, text, final) => leg.tell({ _tag: "UserTranscript", segmentId, text, final }),
    agent: (segmentId, delta) => {
      begun.add(segmentId)
      leg.tell({ _tag: "AgentDelta", segmentId, delta })
    },
    agentDone: (segmentId) => {
      if (begun.delete(segmentId)) leg.tell({ _tag: "AgentDone", segmentId })
    },
    event,
    latency: (latency) => event({ type: "turn.latency", latency }),
    fault: (name) => {
      const message = providerFaults[name]
      if (message === undefined || now() - (faultToldAt.get(message) ?? -faultPauseMs) < faultPauseMs) return
      faultToldAt.set(message, now())
      event({ type: "error", code: "provider_error", message })
    }
  }
}
