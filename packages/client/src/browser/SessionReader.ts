// What the agent's side of the room says: its state, captions of both sides, events. Each becomes an event of the session;
// finished utterances are kept as its transcript.
import { agentStateAttribute, agentTopic, type AgentEvent, transcriptTopic } from "@parley/contract/ClientEvent"
import { type RemoteParticipant, type Room, RoomEvent, type TextStreamReader } from "livekit-client"
import { AgentSessionError } from "./AgentSessionError.ts"
import type { ClientTools } from "./ClientTools.ts"
import type { AgentSessionEndReason, AgentSessionMode, SessionEmitter } from "./SessionEvents.ts"

/** A finished utterance. */
export interface TranscriptEntry {
  readonly role: "user" | "agent"
  readonly text: string
}

/** Who is told. */
export interface SessionReaderOptions {
  readonly room: Room
  readonly emitter: SessionEmitter
  readonly tools: ClientTools
  /** The agent is there; called again with each of its states. */
  readonly onAgent: () => void
  /** The service has ended the session. */
  readonly onEnded: (reason: AgentSessionEndReason) => void
}

/** Reads from the moment it is made; before the room connects, so that nothing is missed. */
export class SessionReader {
  readonly #options: SessionReaderOptions
  readonly #transcript: Array<TranscriptEntry> = []
  mode: AgentSessionMode = "listening"

  constructor(options: SessionReaderOptions) {
    this.#options = options
    const { room } = options
    room.on(RoomEvent.ParticipantConnected, (participant) => this.readState(participant))
    room.on(RoomEvent.ParticipantAttributesChanged, (_, participant) => {
      if (participant !== room.localParticipant) this.readState(participant as RemoteParticipant)
    })
    room.on(RoomEvent.DataReceived, (payload, _participant, _kind, topic) => {
      if (topic === agentTopic) this.#readEvent(payload)
    })
    room.registerTextStreamHandler(transcriptTopic, (reader, { identity }) => {
      const isUser = identity === room.localParticipant.identity
      void (isUser ? this.#readUser(reader) : this.#readAgent(reader)).catch(() => undefined)
    })
  }

  /** The finished utterances so far. */
  get transcript(): ReadonlyArray<TranscriptEntry> {
    return [...this.#transcript]
  }

  /** An utterance is finished: of a caption, or typed. */
  say(entry: TranscriptEntry): void {
    this.#transcript.push(entry)
    this.#options.emitter.emit("message", entry)
  }

  readState(participant: RemoteParticipant): void {
    const state = participant.attributes[agentStateAttribute]
    if (state === undefined || state === "initializing") return
    this.#options.onAgent()
    const mode = state === "thinking" || state === "speaking" ? state : "listening"
    if (mode === this.mode) return
    this.mode = mode
    this.#options.emitter.emit("modeChange", { mode })
  }

  async #readUser(reader: TextStreamReader): Promise<void> {
    const { final, segmentId } = segmentOf(reader)
    const text = await reader.readAll()
    this.#options.emitter.emit("userTranscript", { segmentId, text, final })
    if (final && text !== "") this.say({ role: "user", text })
  }

  async #readAgent(reader: TextStreamReader): Promise<void> {
    const { segmentId } = segmentOf(reader)
    let text = ""
    for await (const delta of reader) {
      text += delta
      this.#options.emitter.emit("agentResponseDelta", { segmentId, delta, text })
    }
    this.#options.emitter.emit("agentResponse", { segmentId, text })
    if (text !== "") this.say({ role: "agent", text })
  }

  #readEvent(payload: Uint8Array): void {
    const event = parse(payload)
    switch (event?.type) {
      case "client_tool.call":
        return void this.#options.tools.answer(event)
      case "tool.started":
        return this.#options.emitter.emit("toolCallStarted", event)
      case "tool.completed":
        return this.#options.emitter.emit("toolCallCompleted", event)
      case "tool.failed":
        return this.#options.emitter.emit("toolCallFailed", event)
      case "turn.latency":
        return this.#options.emitter.emit("turnLatency", event.latency)
      case "error":
        return this.#options.emitter.emit("error", new AgentSessionError(event.code, event.message ?? event.code))
      case "session.ended":
        this.#options.onEnded(event.reason)
        return undefined
      case undefined:
        return undefined
    }
  }
}

const segmentOf = ({ info }: TextStreamReader): { readonly segmentId: string; readonly final: boolean } => ({
  segmentId: info.attributes?.["lk.segment_id"] ?? info.id,
  final: info.attributes?.["lk.transcription_final"] === "true"
})

/** Our own service sends these; unknown types are left to the switch, which passes them over. */
const parse = (payload: Uint8Array): AgentEvent | undefined => {
  try {
    const event: unknown = JSON.parse(new TextDecoder().decode(payload))
    return typeof event === "object" && event !== null && "type" in event ? (event as AgentEvent) : undefined
  } catch {
    return undefined
  }
}
