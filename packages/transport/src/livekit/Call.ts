// A call as the door knows it: one leg, one agent, and the connection that carries them at the moment. Full
// reconnects replace the connection and evict the old one at once; the leg stays. When the leg ends, by
// either side, everything is released.
import { DisconnectReason } from "@livekit/protocol"
import type { EndReason } from "@parley/contract/EndReason"
import type { LegMessage } from "@parley/engine/leg/Leg"
import { makeWebRtcLeg, type LegEnding, type Line, type WebRtcLeg } from "../webrtc/WebRtcLeg.ts"
import { Connection, type ConnectionOptions, type ConnectionOwner } from "./Connection.ts"
import type { JoinQuery } from "./JoinQuery.ts"
import { Agent, disconnectReason, newSid, User } from "./Participants.ts"
import type { SignalSocket } from "./SignalSocket.ts"
import { Transcripts } from "./Transcripts.ts"

export interface CallSeat {
  readonly sessionId: string
  readonly identity: string
  readonly name?: string
  readonly room: string
  /** How the agent is called in the client's list of participants. */
  readonly agentName?: string
}

export interface CallOptions extends ConnectionOptions {
  readonly silenceMs: number
  readonly graceMs: number
  /** How long a new connection may take until media flows. */
  readonly setupMs: number
  /** How long after a `leave` a full reconnect may still come: the SDKs say `leave` before one. */
  readonly rejoinMs: number
  readonly nowMs: () => number
}

export interface CallEvents {
  /** Media flows for the first time. */
  readonly onLeg: (leg: WebRtcLeg) => void
  /** Nothing of the call is left: ports, timers and codecs are free. */
  readonly onReleased: (how: "left" | "lost" | "failed" | "closed") => void
}

/**
 * After the client's transport has the last message. An SDK takes data and signalling by threads of its own, and drops
 * what is not delivered yet when it acts on a `leave`.
 */
const deliveryMs = 200

const mostMessageIds = 256

export const makeCall = async (seat: CallSeat, options: CallOptions, events: CallEvents): Promise<Call> => {
  let call: Call | undefined
  const leg = await makeWebRtcLeg({
    patience: options,
    nowMs: options.nowMs,
    onEnding: (ending) => call?.ended(ending)
  })
  call = new Call(seat, options, events, leg)
  return call
}

export class Call implements Line, ConnectionOwner {
  readonly roomName: string
  readonly roomSid = newSid("RM")
  readonly leg: WebRtcLeg
  readonly agent: Agent
  readonly transcripts = new Transcripts()
  readonly #seat: CallSeat
  readonly #options: CallOptions
  readonly #events: CallEvents
  #connection: Connection | undefined
  /** Connections being torn down. */
  readonly #leaving = new Set<Promise<void>>()
  readonly #messageIds = new Set<string>()
  #deadlineMs: number | undefined
  #handedOver = false
  #toldEnd = false
  #gone: Promise<void> | undefined

  constructor(seat: CallSeat, options: CallOptions, events: CallEvents, leg: WebRtcLeg) {
    this.#seat = seat
    this.#options = options
    this.#events = events
    this.leg = leg
    this.roomName = seat.room
    this.agent = new Agent(seat.agentName ?? "Agent")
  }

  get userSid(): string | undefined {
    return this.#connection?.user.sid
  }

  // Joining

  /** A new join, the first or a full reconnect. */
  async join(socket: SignalSocket, query: JoinQuery): Promise<void> {
    if (this.#gone !== undefined) throw new Error("the call is over")
    const old = this.#connection
    const user = new User(this.#seat.identity, this.#seat.name ?? "")
    const connection = new Connection(this, this.#options, query.mode, user)
    this.#connection = connection
    this.#deadlineMs = this.#options.nowMs() + this.#options.setupMs
    this.leg.carry(this)
    if (old !== undefined) {
      old.leave(DisconnectReason.DUPLICATE_IDENTITY)
      this.#tearDown(old)
    }
    await connection.join(socket, query.request)
  }

  async resume(socket: SignalSocket, query: JoinQuery): Promise<void> {
    this.leg.signallingBack()
    await this.#connection?.resume(socket, query.request)
  }

  handle(socket: SignalSocket, message: Parameters<Connection["handle"]>[0]): Promise<void> | undefined {
    return this.#connection?.isOn(socket) ? this.#connection.handle(message) : undefined
  }

  socketClosed(socket: SignalSocket): void {
    if (this.#connection?.isOn(socket)) this.leg.signallingAway()
  }

  onReady(connection: Connection): void {
    if (connection !== this.#connection || this.#gone !== undefined) return
    if (!this.#handedOver) {
      this.#handedOver = true
      this.#events.onLeg(this.leg)
    }
    this.#deadlineMs = undefined
  }

  onLeave(connection: Connection): void {
    if (connection !== this.#connection) return
    this.#connection = undefined
    this.#deadlineMs = this.#options.nowMs() + this.#options.rejoinMs
    this.#tearDown(connection)
  }

  /** Once a second or so. */
  watch(): void {
    if (this.#deadlineMs !== undefined && this.#options.nowMs() >= this.#deadlineMs) {
      return this.leg.end(this.#connection === undefined ? "left" : "failed")
    }
    this.leg.watch()
  }

  isNewMessage(messageId: string): boolean {
    if (this.#messageIds.has(messageId)) return false
    this.#messageIds.add(messageId)
    // A client repeats what was not answered, in order: far fewer than these.
    const [oldest = ""] = this.#messageIds
    if (this.#messageIds.size > mostMessageIds) this.#messageIds.delete(oldest)
    return true
  }

  // The leg's line: whichever connection there is

  sendRtp(packet: Parameters<Line["sendRtp"]>[0]): void {
    this.#connection?.sendRtp(packet)
  }

  tell(message: LegMessage): void {
    if (message._tag === "State") this.agent.state = message.state
    if (message._tag === "Event" && message.event.type === "session.ended") this.#toldEnd = true
    if (this.#connection !== undefined) return this.#connection.tell(message)
    // Between two connections captions are kept: the next one begins with them.
    const nobody = { identity: "", sid: "", trackSid: undefined }
    if (message._tag === "AgentDelta") this.transcripts.agentDelta(nobody, message.segmentId, message.delta)
    if (message._tag === "AgentDone") this.transcripts.agentDone(nobody, message.segmentId)
  }

  // Ending

  /** The server stops; the client learns why. Resolves when everything is free. */
  shutDown(): Promise<void> {
    this.leg.end("failed")
    return this.#gone ?? Promise.resolve()
  }

  ended(ending: LegEnding): void {
    this.#gone ??= this.#release(ending)
  }

  async #release(ending: LegEnding): Promise<void> {
    const connection = this.#connection
    if (connection !== undefined) {
      if (ending._tag === "Closed") await this.#farewell(connection, ending.reason)
      connection.leave(ending._tag === "Closed" ? disconnectReason(ending.reason) : endedReason(ending.how))
      this.#tearDown(connection)
    }
    await Promise.all(this.#leaving)
    this.#connection = undefined
    this.#events.onReleased(ending._tag === "Closed" ? "closed" : ending.how)
  }

  /** A client acts on `leave` at once, so what is on its way by the data channel goes first. */
  async #farewell(connection: Connection, reason: EndReason): Promise<void> {
    if (!this.#toldEnd) connection.tell({ _tag: "Event", event: { type: "session.ended", reason } })
    await connection.arrived()
    await new Promise((resolve) => setTimeout(resolve, deliveryMs))
  }

  #tearDown(connection: Connection): void {
    const done = connection.release().finally(() => this.#leaving.delete(done))
    this.#leaving.add(done)
  }
}

const endedReason = (how: "left" | "lost" | "failed"): DisconnectReason => {
  switch (how) {
    case "left":
      return DisconnectReason.CLIENT_INITIATED
    case "lost":
      return DisconnectReason.CONNECTION_TIMEOUT
    case "failed":
      return DisconnectReason.SERVER_SHUTDOWN
  }
}
