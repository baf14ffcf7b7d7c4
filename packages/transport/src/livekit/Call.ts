// A call with a WebRTC client as one scoped program: one leg, one agent, and the connection that carries them at the
// moment. Full reconnects replace the connection, which has a scope of its own, and evict the old one at once; the leg
// stays. When the leg ends, by either side, or the scope is closed, the client is told why and everything is released.
import { DisconnectReason } from "@livekit/protocol"
import type { EndReason } from "@parley/contract/EndReason"
import type { LegMessage } from "@parley/engine/leg/Leg"
import { Deferred, Effect, Exit, FiberHandle, FiberSet, Scope } from "effect"
import { makeWebRtcLeg, type LegCarrier, type LegEnding, type WebRtcLeg } from "../webrtc/WebRtcLeg.ts"
import { type Connection, makeConnection, type ConnectionOptions, type ConnectionOwner } from "./Connection.ts"
import type { JoinQuery } from "./JoinQuery.ts"
import { Agent, disconnectReason, newSid, User } from "./Participants.ts"
import type { SignalMessage, SignalSocket } from "./SignalSocket.ts"
import { Transcripts } from "./Transcripts.ts"

/** What a token lets its holder join, and as whom. */
export interface JoinGrant {
  readonly sessionId: string
  readonly identity: string
  /** Display name; empty when left out. */
  readonly name?: string
  readonly room: string
  /** How the agent is called in the client's list of participants; `Agent` when left out. */
  readonly agentName?: string
}

/** How long a client may take or stay away, in milliseconds. */
export interface CallTimings {
  /** A leg without RTP, RTCP or ping is lost after this time. */
  readonly silenceMs: number
  /** A leg without a signalling socket is lost after this time. */
  readonly graceMs: number
  /** How long a new connection may take until media flows. */
  readonly setupMs: number
  /** How long after a `leave` a full reconnect may still come: the SDKs say `leave` before one. */
  readonly rejoinMs: number
}

/** What every call of a server shares. */
export interface CallOptions extends ConnectionOptions {
  readonly timings: CallTimings
  readonly nowMs: () => number
}

/** `closed`: by the service. */
export type ReleasedHow = "left" | "lost" | "failed" | "closed"

/**
 * After the client's transport has the last message. An SDK takes data and signalling by threads of its own, and drops
 * what is not delivered yet when it acts on a `leave`.
 */
const deliveryMs = 200
const mostMessageIds = 256

/** A connection of the call, and the scope that its ports and timers go with. */
interface Carrying {
  readonly connection: Connection
  readonly scope: Scope.Closeable
}

/** What lives in the scope of a call, for whoever runs its effects from callbacks. */
interface CallFibers {
  /** Of its connections. */
  readonly scope: Scope.Scope
  readonly run: (effect: Effect.Effect<void>) => void
  /** Runs this instead of what waited for the last deadline. */
  readonly runDeadline: (effect: Effect.Effect<void>) => void
}

/** What a call tells of itself. */
export interface CallListener {
  /** Once, when media flows. */
  readonly onLeg: (leg: WebRtcLeg) => void
  /** Its client has a signalling socket, or lost it. */
  readonly onSignalling: (isThere: boolean) => void
}

/**
 * A call until the scope closes: the client learns why it is over, which takes as long as its last message does, and all
 * connections are closed. Whoever owns the scope closes it when `over` resolves. `onLeg` is called once, when media flow.
 */
export const openCall = Effect.fnUntraced(function* (
  grant: JoinGrant,
  options: CallOptions,
  listener: CallListener
): Effect.fn.Return<Call, never, Scope.Scope> {
  const ending = Deferred.makeUnsafe<LegEnding>()
  const leg = yield* Effect.promise(() =>
    makeWebRtcLeg({
      patience: options.timings,
      nowMs: options.nowMs,
      onEnding: (how) => void Deferred.doneUnsafe(ending, Exit.succeed(how))
    })
  )
  // Made before the finalizer below, thus closed after it.
  const scope = yield* Scope.fork(yield* Effect.scope)
  const run = yield* FiberSet.makeRuntime<never, void>()
  const runDeadline = yield* FiberHandle.makeRuntime<never, never, void>()
  const call = new Call(grant, options, leg, ending, { scope, run, runDeadline }, listener)
  yield* Effect.addFinalizer(() => {
    leg.end("failed")
    return call.release
  })
  return call
})

/** One call: its leg, its agent, and whatever connection carries them. Made by `openCall`. */
export class Call implements LegCarrier, ConnectionOwner {
  readonly roomName: string
  readonly roomSid = newSid("RM")
  readonly leg: WebRtcLeg
  readonly agent: Agent
  readonly transcripts = new Transcripts()
  /** Done when the leg has ended, by either side. */
  readonly ending: Deferred.Deferred<LegEnding>
  readonly #grant: JoinGrant
  readonly #options: CallOptions
  readonly #fibers: CallFibers
  readonly #listener: CallListener
  #isUp = false
  #carrying: Carrying | undefined
  readonly #messageIds = new Set<string>()
  #toldEnd = false

  constructor(
    grant: JoinGrant,
    options: CallOptions,
    leg: WebRtcLeg,
    ending: Deferred.Deferred<LegEnding>,
    fibers: CallFibers,
    listener: CallListener
  ) {
    this.#grant = grant
    this.#options = options
    this.#fibers = fibers
    this.#listener = listener
    this.leg = leg
    this.ending = ending
    this.roomName = grant.room
    this.agent = new Agent(grant.agentName ?? "Agent")
  }

  get userSid(): string | undefined {
    return this.#carrying?.connection.user.sid
  }

  /** How the call ended, once it has. */
  get over(): Effect.Effect<ReleasedHow> {
    return Effect.map(Deferred.await(this.ending), (ending) => (ending._tag === "Closed" ? "closed" : ending.how))
  }

  // Joining

  /** A new join, the first or a full reconnect. Dies when the call is over. */
  join(socket: SignalSocket, query: JoinQuery): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      if (Deferred.isDoneUnsafe(this.ending)) return yield* Effect.die(new Error("the call is over"))
      const user = new User(this.#grant.identity, this.#grant.name ?? "")
      const scope = yield* Scope.fork(this.#fibers.scope)
      const connection = yield* Scope.provide(makeConnection(this, this.#options, query.mode, user), scope)
      const old = this.#carrying
      this.#carrying = { connection, scope }
      this.#signalling(true)
      this.leg.carry(this)
      if (old !== undefined) {
        old.connection.leave(DisconnectReason.DUPLICATE_IDENTITY)
        this.#tearDown(old)
      }
      yield* connection.join(socket, query.request)
    })
  }

  /** The same connection on a new socket. */
  resume(socket: SignalSocket, query: JoinQuery): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.leg.signallingBack()
      this.#signalling(true)
      return this.#carrying?.connection.resume(socket, query.request) ?? Effect.void
    })
  }

  handle(socket: SignalSocket, message: SignalMessage): Effect.Effect<void> {
    const connection = this.#carrying?.connection
    return connection?.isOn(socket) === true ? connection.handle(message) : Effect.void
  }

  socketClosed(socket: SignalSocket): void {
    if (this.#carrying?.connection.isOn(socket) !== true) return
    this.leg.signallingAway()
    this.#signalling(false)
  }

  onReady(connection: Connection): void {
    if (connection !== this.#carrying?.connection || Deferred.isDoneUnsafe(this.ending)) return
    this.#fibers.runDeadline(Effect.void)
    if (this.#isUp) return
    this.#isUp = true
    this.#listener.onLeg(this.leg)
  }

  onLeave(connection: Connection): void {
    const left = this.#carrying
    if (left?.connection !== connection) return
    this.#carrying = undefined
    this.#endAfter(this.#options.timings.rejoinMs, "left")
    this.#tearDown(left)
  }

  isNewMessage(messageId: string): boolean {
    if (this.#messageIds.has(messageId)) return false
    this.#messageIds.add(messageId)
    // A client repeats what was not answered, in order: far fewer than these.
    const [oldest = ""] = this.#messageIds
    if (this.#messageIds.size > mostMessageIds) this.#messageIds.delete(oldest)
    return true
  }

  // What carries the leg: whichever connection there is

  sendRtp(packet: Parameters<LegCarrier["sendRtp"]>[0]): void {
    this.#carrying?.connection.sendRtp(packet)
  }

  tell(message: LegMessage): void {
    if (message._tag === "State") this.agent.state = message.state
    if (message._tag === "Event" && message.event.type === "session.ended") this.#toldEnd = true
    if (this.#carrying !== undefined) return this.#carrying.connection.tell(message)
    // Between two connections captions are kept: the next one begins with them.
    const nobody = { identity: "", sid: "", trackSid: undefined }
    if (message._tag === "AgentDelta") this.transcripts.agentDelta(nobody, message.segmentId, message.delta)
    if (message._tag === "AgentDone") this.transcripts.agentDone(nobody, message.segmentId)
  }

  // Ending

  /** Tells the client why it must go. Its connections are closed with the scope, after this. */
  get release(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const ending = yield* Deferred.await(this.ending)
      const connection = this.#carrying?.connection
      if (connection === undefined) return
      if (ending._tag === "Closed") yield* this.#farewell(connection, ending.reason)
      connection.leave(ending._tag === "Closed" ? disconnectReason(ending.reason) : endedReason(ending.how))
    })
  }

  /** A client acts on `leave` at once, so what is on its way by the data channel goes first. */
  #farewell(connection: Connection, reason: EndReason): Effect.Effect<void> {
    if (!this.#toldEnd) connection.tell({ _tag: "Event", event: { type: "session.ended", reason } })
    return Effect.andThen(
      Effect.promise(() => connection.arrived()),
      Effect.sleep(deliveryMs)
    )
  }

  /** Until media flows a call without its socket has nothing to wait for but another join. */
  #signalling(isThere: boolean): void {
    const { rejoinMs, setupMs } = this.#options.timings
    if (!this.#isUp) this.#endAfter(isThere ? setupMs : rejoinMs, isThere ? "failed" : "left")
    this.#listener.onSignalling(isThere)
  }

  #endAfter(ms: number, how: "left" | "failed"): void {
    this.#fibers.runDeadline(
      Effect.delay(
        Effect.sync(() => this.leg.end(how)),
        ms
      )
    )
  }

  /** In a fiber of the call, which waits for it when it ends. */
  #tearDown({ scope }: Carrying): void {
    this.#fibers.run(Scope.close(scope, Exit.void))
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
