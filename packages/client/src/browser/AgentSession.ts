// A live conversation with an agent, in a browser: join with a session's ticket, talk, read along, hang up. A thin
// layer over livekit-client, which keeps the connection; what is said over it is `ClientEvent` of the contract.
// `start` resolves when the agent is there, and rejects with an AgentSessionError that says why it is not.
import type { ClientEvent } from "@parley/contract/ClientEvent"
import { ConnectionState, DisconnectReason, Room, RoomEvent } from "livekit-client"
import { AgentVoice } from "./AgentVoice.ts"
import { ClientTools, type ClientTool } from "./ClientTools.ts"
import { Microphone, switchDevice } from "./Microphone.ts"
import { AgentSessionError, wordsOf } from "./AgentSessionError.ts"
import {
  SessionEmitter,
  type AgentSessionCallbacks,
  type AgentSessionEndReason,
  type AgentSessionEvents,
  type AgentSessionListener,
  type AgentSessionMode,
  type AgentSessionStatus
} from "./SessionEvents.ts"
import { Outbox } from "./Outbox.ts"
import { type PublicSessionOptions, requestTicket } from "./PublicSession.ts"
import { SessionReader, type TranscriptEntry } from "./SessionReader.ts"
import { ticketOf, type SessionTicket, type TicketSource } from "./SessionTicket.ts"

/** The session, or `sessionToken` with the `serverUrl` it is good for; or the `agentId` of a public agent. */
export interface AgentSessionOptions extends AgentSessionCallbacks, TicketSource, PublicSessionOptions {
  /** Default true. Without it the session is typed, and the microphone may come later by `setMicMuted(false)`. */
  readonly microphone?: boolean
  readonly audio?: { readonly inputDeviceId?: string; readonly outputDeviceId?: string }
  readonly clientTools?: Readonly<Record<string, ClientTool>>
  readonly clientToolTimeoutMs?: number
}

const agentWithinMs = 15_000
const farewellMs = 300

/** A live conversation. Made by `AgentSession.start`. */
export class AgentSession {
  readonly #room = new Room()
  readonly #outbox = new Outbox(this.#room)
  readonly #emitter: SessionEmitter
  readonly #tools: ClientTools
  readonly #microphone = new Microphone(this.#room)
  readonly #voice = new AgentVoice(this.#room)
  readonly #reader: SessionReader
  readonly sessionId: string
  #status: AgentSessionStatus = "connecting"
  #endReason: AgentSessionEndReason | undefined
  readonly #agentReady = Promise.withResolvers<void>()

  /** Joins, and resolves when the agent is there. */
  static async start(options: AgentSessionOptions): Promise<AgentSession> {
    const ticket = options.agentId === undefined ? ticketOf(options) : await requestTicket(options.agentId, options)
    const session = new AgentSession(ticket, options)
    try {
      await session.#join(ticket, options)
      return session
    } catch (error) {
      await session.#room.disconnect()
      session.#close(session.#endReason ?? "connection_lost")
      throw error
    }
  }

  private constructor(ticket: SessionTicket, options: AgentSessionOptions) {
    this.sessionId = ticket.session_id
    this.#emitter = new SessionEmitter(options)
    this.#tools = new ClientTools({
      tools: options.clientTools ?? {},
      timeoutMs: options.clientToolTimeoutMs ?? 15_000,
      send: (result) => this.#send(result),
      onError: (error) => this.#emitter.emit("error", error)
    })
    this.#reader = new SessionReader({
      room: this.#room,
      emitter: this.#emitter,
      tools: this.#tools,
      onAgent: () => this.#agentReady.resolve(),
      onEnded: (reason) => void (this.#endReason ??= reason)
    })
    this.#listen()
  }

  get status(): AgentSessionStatus {
    return this.#status
  }
  get mode(): AgentSessionMode {
    return this.#reader.mode
  }
  get isSpeaking(): boolean {
    return this.#reader.mode === "speaking"
  }
  get micMuted(): boolean {
    return !this.#microphone.on
  }
  /** Undefined while the session lives. */
  get endReason(): AgentSessionEndReason | undefined {
    return this.#endReason
  }
  getTranscript(): ReadonlyArray<TranscriptEntry> {
    return this.#reader.transcript
  }
  /** livekit-client's room, for what this layer does not offer. */
  getRoom(): Room {
    return this.#room
  }
  on<K extends keyof AgentSessionEvents>(event: K, listener: AgentSessionListener<K>): () => void {
    return this.#emitter.on(event, listener)
  }

  /** Typed input; answered in writing only unless `audio` is true. */
  sendUserMessage(text: string, options: { readonly audio?: boolean } = {}): void {
    this.#send({ type: "user.message", text, audio: options.audio ?? false })
    this.#reader.say({ role: "user", text })
  }
  /** The user does something, such as typing: the agent does not ask whether they are still there. */
  sendUserActivity(): void {
    this.#send({ type: "user.activity" })
  }
  interrupt(): void {
    this.#send({ type: "user.interrupt" })
  }
  registerClientTool(name: string, tool: ClientTool): () => void {
    return this.#tools.register(name, tool)
  }

  /** Rejects with `mic_permission_denied` when the browser or the user refuses. */
  async setMicMuted(muted: boolean): Promise<void> {
    await this.#microphone.set(!muted)
  }
  /** Call from a click when the browser blocks sound (`getRoom().canPlaybackAudio` is false). */
  async startAudio(): Promise<void> {
    await Promise.all([this.#room.startAudio(), this.#microphone.meter.resume(), this.#voice.meter.resume()])
  }
  async setInputDevice(deviceId: string): Promise<void> {
    await switchDevice(this.#room, "audioinput", deviceId)
  }
  async setOutputDevice(deviceId: string): Promise<void> {
    await switchDevice(this.#room, "audiooutput", deviceId)
  }
  /** 0 to 1. */
  setOutputVolume(volume: number): void {
    this.#voice.setVolume(volume)
  }
  getInputVolume(): number {
    return this.#microphone.meter.volume()
  }
  getOutputVolume(): number {
    return this.#voice.meter.volume()
  }
  getInputFrequencyData(): Uint8Array {
    return this.#microphone.meter.frequencies()
  }
  getOutputFrequencyData(): Uint8Array {
    return this.#voice.meter.frequencies()
  }

  /** Hangs up. At once for the user; resolves when the service knows. Idempotent. */
  async end(): Promise<void> {
    if (this.#status === "disconnected") return
    const goodbye = this.#outbox.send({ type: "user.hangup" }).catch(() => undefined)
    this.#close("user_hangup")
    await this.#room.localParticipant.setMicrophoneEnabled(false).catch(() => undefined)
    // Without a connection it waits in vain.
    await Promise.race([goodbye, this.#gone(farewellMs)])
    // The words are on their way only; the service answers them by closing the call.
    await this.#gone(farewellMs)
    await this.#room.disconnect()
  }

  #gone(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs)
      this.#room.once(RoomEvent.Disconnected, () => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  // Joining

  async #join(ticket: SessionTicket, options: AgentSessionOptions): Promise<void> {
    this.#emitter.emit("statusChange", { status: "connecting" })
    const { inputDeviceId, outputDeviceId } = options.audio ?? {}
    if (inputDeviceId !== undefined) this.#room.options.audioCaptureDefaults = { deviceId: inputDeviceId }
    if (outputDeviceId !== undefined) this.#room.options.audioOutput = { deviceId: outputDeviceId }
    try {
      await this.#room.connect(ticket.rtc_url, ticket.token)
    } catch (cause) {
      throw new AgentSessionError("connection_failed", wordsOf(cause), { cause })
    }
    for (const participant of this.#room.remoteParticipants.values()) this.#reader.readState(participant)
    if (options.microphone !== false) await this.#microphone.set(true)
    await this.#agentWithin()
    this.#setStatus("connected")
    this.#emitter.emit("connect", { sessionId: this.sessionId })
  }

  async #agentWithin(): Promise<void> {
    const late = new AgentSessionError("connection_failed", "the agent did not come")
    const timer = setTimeout(() => this.#agentReady.reject(late), agentWithinMs)
    await this.#agentReady.promise.finally(() => clearTimeout(timer))
  }

  #listen(): void {
    const room = this.#room
    this.#agentReady.promise.catch(() => undefined)
    room.on(RoomEvent.ConnectionStateChanged, (state) => {
      if (state === ConnectionState.Reconnecting || state === ConnectionState.SignalReconnecting) {
        this.#setStatus("reconnecting")
      } else if (state === ConnectionState.Connected && this.#status === "reconnecting") this.#setStatus("connected")
    })
    room.on(RoomEvent.Disconnected, (reason) => {
      this.#agentReady.reject(new AgentSessionError("connection_failed", "the connection was closed"))
      this.#close(this.#endReason ?? reasonOf(reason))
    })
  }

  // Saying

  #send(event: ClientEvent): void {
    if (this.#status === "disconnected") return
    this.#outbox
      .send(event)
      .catch((cause: unknown) =>
        this.#emitter.emit("error", new AgentSessionError("internal_error", wordsOf(cause), { cause }))
      )
  }

  #setStatus(status: AgentSessionStatus): void {
    if (this.#status === status || this.#status === "disconnected") return
    this.#status = status
    this.#emitter.emit("statusChange", { status })
  }

  #close(reason: AgentSessionEndReason): void {
    if (this.#status === "disconnected") return
    this.#endReason = reason
    this.#setStatus("disconnected")
    this.#microphone.meter.close()
    this.#voice.close()
    this.#emitter.emit("disconnect", { reason })
  }
}

const reasonOf = (reason: DisconnectReason | undefined): AgentSessionEndReason => {
  switch (reason) {
    case DisconnectReason.CLIENT_INITIATED:
      return "user_hangup"
    case DisconnectReason.ROOM_DELETED:
    case DisconnectReason.PARTICIPANT_REMOVED:
      return "agent_hangup"
    default:
      return "connection_lost"
  }
}
