// One join of one client: its peer connections, its data, and the signalling socket it currently has, in a scope of its
// own. A resume gives it another socket; a full reconnect makes another connection. It carries the call's leg and knows
// nothing of the conversation.
import {
  type DisconnectReason,
  LeaveRequest,
  LeaveRequest_Action,
  ParticipantInfo_State,
  Pong,
  SessionDescription,
  SignalTarget,
  TrackPublishedResponse,
  TrackSubscribed,
  TrackType,
  type AddTrackRequest,
  type JoinRequest,
  type UpdateParticipantMetadata
} from "@livekit/protocol"
import type { LegMessage } from "@parley/engine/leg/Leg"
import { Effect, type Scope } from "effect"
import { type FaultOwner, ownedBy } from "../FaultOwner.ts"
import { Peer, type PeerEvents, type PeerOptions } from "../webrtc/Peer.ts"
import type { SpokenPacket } from "../webrtc/OpusSender.ts"
import type { LegCarrier } from "../webrtc/WebRtcLeg.ts"
import { ConversationData, type ConversationDataOwner } from "./ConversationData.ts"
import type { User } from "./Participants.ts"
import {
  type IceServer,
  joined,
  participants,
  reconnected,
  requestDone,
  sectionNeeded,
  trackRefused
} from "./signals.ts"
import { closeCode, type SignalMessage, type SignalSocket } from "./SignalSocket.ts"

/** Network and TURN servers of a connection. */
export interface ConnectionOptions extends PeerOptions {
  /** Told to clients, for TURN. */
  readonly iceServers: ReadonlyArray<IceServer>
}

/** What a connection belongs to. */
export interface ConnectionOwner extends ConversationDataOwner {
  readonly roomName: string
  readonly roomSid: string
  /** Our voice can be heard from now on. */
  readonly onReady: (connection: Connection) => void
  readonly onLeave: (connection: Connection) => void
}

/** A connection whose peers are closed, ports and timers included, when the scope closes. */
export const makeConnection = (
  owner: ConnectionOwner,
  options: ConnectionOptions,
  mode: "single" | "dual",
  user: User
): Effect.Effect<Connection, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new Connection(owner, options, mode, user)),
    (connection) => Effect.promise(() => connection.release())
  )

/** One join of one client. Made by `makeConnection`; synchronous but for negotiation. */
export class Connection implements LegCarrier {
  readonly #owner: ConnectionOwner
  readonly #options: ConnectionOptions
  readonly #mode: "single" | "dual"
  readonly user: User
  readonly #data: ConversationData
  /** What werift throws from its own sockets and timers ends this call. */
  readonly #faultOwner: FaultOwner
  /** Takes the client's offers. In single mode our voice goes out here too. */
  readonly #publisher: Peer
  /** Dual mode only: we offer. */
  readonly #subscriber: Peer | undefined
  #socket: SignalSocket | undefined
  /** The number of our last offer; the first is 1. */
  #offered = 0
  #askedForSection = false

  constructor(owner: ConnectionOwner, options: ConnectionOptions, mode: "single" | "dual", user: User) {
    this.#owner = owner
    this.#options = options
    this.#mode = mode
    this.user = user
    this.#data = new ConversationData(owner, user)
    const ready = (): void => owner.onReady(this)
    this.#faultOwner = { kind: "call", fail: () => owner.leg.end("failed") }
    this.#publisher = this.#owned(
      () => new Peer(options, this.#peerEvents(mode === "single" ? ready : () => undefined))
    )
    if (mode === "dual") this.#subscriber = this.#makeSubscriber(ready)
  }

  isOn(socket: SignalSocket): boolean {
    return this.#socket === socket
  }

  /** Begins on this socket: the first thing said on it is the join response. */
  join(socket: SignalSocket, request: JoinRequest): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { agent, roomName: name, roomSid: sid } = this.#owner
      this.#socket = socket
      this.user.metadata = request.metadata
      this.user.attributes = { ...request.participantAttributes }
      socket.send(joined({ sid, name }, this.user, agent, this.#mode, this.#options.iceServers))
      this.#data.reopen()
      yield* this.#negotiate(request, false)
    })
  }

  /** The client is back on another socket. `reconnect` must be the first message it gets. */
  resume(socket: SignalSocket, request: JoinRequest): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const old = this.#socket
      this.#socket = socket
      old?.terminate()
      socket.send(reconnected(this.#options.iceServers, this.#data.lastSequence))
      socket.send(participants(this.#owner.agent.info(), this.user.info()))
      if (request.syncState !== undefined) this.#data.sync(request.syncState)
      yield* this.#negotiate(request, true)
    })
  }

  /** Carries out one request of the client. Dies when it cannot be carried out. */
  handle(message: SignalMessage): Effect.Effect<void> {
    switch (message.case) {
      case "offer":
        return this.#answer(message.value)
      case "answer":
        return this.#accept(message.value)
      default:
        return Effect.sync(() => this.#handleNow(message))
    }
  }

  #handleNow(message: SignalMessage): void {
    switch (message.case) {
      case "trickle": {
        const isSubscriber = message.value.target === SignalTarget.SUBSCRIBER
        const peer = (isSubscriber && this.#subscriber) || this.#publisher
        return this.#owned(() => peer.addCandidate(message.value.candidateInit))
      }
      case "addTrack":
        return this.#addTrack(message.value)
      case "mute":
        return this.user.mute(message.value.sid, message.value.muted)
      case "ping":
        this.#owner.leg.alive()
        return this.#socket?.send({ case: "pong", value: BigInt(Date.now()) })
      case "pingReq": {
        this.#owner.leg.alive()
        const pong = new Pong({ lastPingTimestamp: message.value.timestamp, timestamp: BigInt(Date.now()) })
        return this.#socket?.send({ case: "pongResp", value: pong })
      }
      case "syncState":
        return this.#data.sync(message.value)
      case "updateMetadata":
        return this.#updateMetadata(message.value)
      case "leave":
        return this.#owner.onLeave(this)
      default:
        return undefined
    }
  }

  // The leg's line

  sendRtp(packet: SpokenPacket): void {
    ;(this.#subscriber ?? this.#publisher).sendVoice(packet)
  }

  tell(message: LegMessage): void {
    if (message._tag === "State") this.#socket?.send(participants(this.#owner.agent.info()))
    else this.#data.tell(message)
  }

  /** Resolves once the client has what it was told, within a third of a second or so. */
  arrived(): Promise<void> {
    return this.#data.arrived()
  }

  /** Tells the client why it must go, and shuts the socket. */
  leave(reason: DisconnectReason, action = LeaveRequest_Action.DISCONNECT): void {
    const { agent } = this.#owner
    this.#socket?.send(participants(agent.info(ParticipantInfo_State.DISCONNECTED)))
    this.#socket?.send({ case: "leave", value: new LeaveRequest({ reason, action, canReconnect: false }) })
    this.#socket?.close(closeCode.normal, "call ended")
    this.#socket = undefined
  }

  /** Ports and timers are free when this resolves. */
  async release(): Promise<void> {
    this.#socket?.close(closeCode.normal, "call ended")
    this.#socket = undefined
    await Promise.all([this.#publisher.close(), this.#subscriber?.close()])
  }

  // Signalling

  /** Tracks and an offer may come with the join itself; in dual mode we offer too. */
  #negotiate(request: JoinRequest, restart: boolean): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      for (const track of request.addTrackRequests) this.#addTrack(track)
      if (request.publisherOffer !== undefined) yield* this.#answer(request.publisherOffer)
      if (this.#subscriber !== undefined) yield* this.#offer(this.#subscriber, restart)
    })
  }

  #answer(offer: SessionDescription): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { agent } = this.#owner
      const isSingle = this.#mode === "single"
      const streamId = isSingle ? agent.streamId : undefined
      const sdp = yield* Effect.promise(() => this.#owned(() => this.#publisher.answer(offer.sdp, streamId)))
      const mid = isSingle ? this.#publisher.voiceMid : undefined
      const midToTrackId = mid === undefined ? {} : { [mid]: agent.trackSid }
      this.#socket?.send({
        case: "answer",
        value: new SessionDescription({ type: "answer", sdp, id: offer.id, midToTrackId })
      })
      if (isSingle && mid === undefined && !this.#askedForSection) {
        // The join response has listed the track by now: the Rust client waits for the listing first.
        this.#askedForSection = true
        this.#socket?.send(sectionNeeded)
      }
    })
  }

  #offer(subscriber: Peer, restart: boolean): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const id = ++this.#offered
      const sdp = yield* Effect.promise(() => this.#owned(() => subscriber.offer(restart)))
      const mid = subscriber.voiceMid
      const midToTrackId = mid === undefined ? {} : { [mid]: this.#owner.agent.trackSid }
      this.#socket?.send({ case: "offer", value: new SessionDescription({ type: "offer", sdp, id, midToTrackId }) })
    })
  }

  /**
   * Only the answer to our last offer counts. After a resume the client may still send the one to the offer before, and
   * taken for this one it leaves ICE with the credentials of a run that is over: the client would hear nothing more of us.
   * Clients that do not number their answers say 0.
   */
  #accept({ id, sdp }: SessionDescription): Effect.Effect<void> {
    if (this.#subscriber === undefined || (id !== 0 && id !== this.#offered)) return Effect.void
    const subscriber = this.#subscriber
    return Effect.promise(() => this.#owned(() => subscriber.accept(sdp)))
  }

  #addTrack(request: AddTrackRequest): void {
    if (request.type !== TrackType.AUDIO) {
      return this.#socket?.send(trackRefused(request))
    }
    const track = this.user.publish(request)
    this.#socket?.send({ case: "trackPublished", value: new TrackPublishedResponse({ cid: request.cid, track }) })
    this.#socket?.send(participants(this.user.info()))
    this.#socket?.send({ case: "trackSubscribed", value: new TrackSubscribed({ trackSid: track.sid }) })
  }

  #updateMetadata(request: UpdateParticipantMetadata): void {
    if (request.name !== "") this.user.name = request.name
    if (request.metadata !== "") this.user.metadata = request.metadata
    const merged = { ...this.user.attributes, ...request.attributes }
    this.user.attributes = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== ""))
    this.#socket?.send(requestDone(request.requestId))
    this.#socket?.send(participants(this.user.info()))
  }

  // Media

  #owned<A>(body: () => A): A {
    return ownedBy(this.#faultOwner, body)
  }

  #makeSubscriber(ready: () => void): Peer {
    const peer = this.#owned(() => new Peer(this.#options, this.#peerEvents(ready)))
    peer.offerVoice(this.#owner.agent.streamId)
    this.#data.use(peer.createChannel("_reliable", { ordered: true }))
    peer.createChannel("_lossy", { ordered: false, maxRetransmits: 0 })
    return peer
  }

  #peerEvents(onConnected: () => void): PeerEvents {
    const { leg } = this.#owner
    return {
      onConnected,
      onRtp: (rtp) => leg.hear(rtp),
      onRtcp: () => leg.alive(),
      onChannel: (channel) => {
        this.#data.listen(channel)
        if (channel.label === "_reliable" && this.#mode === "single") this.#data.use(channel)
      }
    }
  }
}
