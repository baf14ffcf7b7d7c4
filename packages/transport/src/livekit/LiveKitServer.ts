// The WebRTC server: unmodified LiveKit clients join here, each to a call with one agent. Speaks HTTP only to
// refuse: `GET /rtc/validate` exists because a browser cannot read why a websocket was turned down. Calls, sockets and
// joins under way live in one scope; closing it turns everyone out.
import { DisconnectReason, LeaveRequest, LeaveRequest_Action } from "@livekit/protocol"
import type { Leg } from "@parley/engine/leg/Leg"
import { Deferred, Effect, Exit, FiberSet, Schedule, Scope } from "effect"
import { createHash } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { WebSocketServer, type WebSocket } from "ws"
import { openCall, type Call, type CallOptions, type JoinGrant, type ReleasedHow } from "./Call.ts"
import { readJoinQuery, signalPath, tokenOf, type JoinQuery } from "./JoinQuery.ts"
import { type Refusal, refuse, refuseUpgrade } from "./refusals.ts"
import { type IceServer } from "./signals.ts"
import { closeCode, SignalSocket } from "./SignalSocket.ts"

/**
 * Why the token is shown: `join` begins a call and uses it up; `validate` only asks whether a join would
 * work; `rejoin` comes from a client whose call is live (resume or full reconnect), with the same token.
 */
export type AdmitPurpose = "validate" | "join" | "rejoin"

/** Who joined, and where, for whoever takes the leg. */
export interface LegInfo {
  readonly identity: string
  readonly room: string
}

/** Times in milliseconds; ports and addresses as the machine has them unless said otherwise. */
export interface LiveKitServerOptions {
  /** What a token is worth. A rejection or an exception of it is answered with 500. */
  readonly admit: (token: string, purpose: AdmitPurpose) => Promise<JoinGrant | Refusal>
  /** Once per call, when media flows: whatever is played from here on can be heard. */
  readonly onLeg: (sessionId: string, leg: Leg, info: LegInfo) => void
  /** Once per call, when nothing of it is left; also when media never flowed and no leg was handed over. */
  readonly onReleased?: (sessionId: string, how: ReleasedHow) => void
  /** Told to clients (TURN). The server itself uses its own addresses only. */
  readonly iceServers?: ReadonlyArray<IceServer>
  /** The address clients reach this machine at, when it is behind NAT. */
  readonly advertisedAddress?: string
  /** UDP ports of WebRTC, both included. */
  readonly portRange?: readonly [min: number, max: number]
  /** How long a client may be without signalling before its leg is lost: 15 s. */
  readonly graceMs?: number
  /** How long a leg may show no sign of life: 20 s. */
  readonly silenceMs?: number
  /** Calls at the same time; further joins get 503. */
  readonly maxSessions?: number
  /** How long a new connection may take until media flows: 15 s. */
  readonly setupMs?: number
  /** How long after a `leave` a full reconnect may come: 1 s. */
  readonly rejoinMs?: number
  readonly nowMs?: () => number
}

/** Counts at this moment. */
export interface LiveKitServerStats {
  readonly calls: number
  readonly sockets: number
  /** Joins waiting for `admit` or for their codecs. */
  readonly entering: number
}

/** The server as its HTTP listener sees it. Nothing of it throws. */
export interface LiveKitServer {
  /** Takes an upgrade of `/rtc` and `/rtc/v1`. False when the request is for someone else. */
  readonly handleUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean
  /** Answers `/rtc/validate` and `/rtc/v1/validate`. False when the request is for someone else. */
  readonly handleValidate: (request: IncomingMessage, response: ServerResponse) => boolean
  /** Turns everyone out; resolves when ports, timers and sockets are free. */
  readonly close: () => Promise<void>
  readonly stats: () => LiveKitServerStats
}

const maxSignalBytes = 64 * 1024
const watchMs = 500
/** Requests in `admit` at the same time; a flood is turned away before it costs anything. */
const maxEntering = 64

/** Opens nothing by itself: connections come by `handleUpgrade`, UDP ports per client. */
export const makeLiveKitServer = (options: LiveKitServerOptions): LiveKitServer => {
  const scope = Scope.makeUnsafe()
  const isClosed = (): boolean => scope.state._tag === "Closed"
  const { run, sockets } = Effect.runSync(Scope.provide(acquire, scope))
  const calls = new LiveCalls(options, run)
  run(
    Effect.repeat(
      Effect.sync(() => calls.watch()),
      Schedule.spaced(watchMs)
    )
  )
  let entering = 0

  const admit = async (token: string, purpose: AdmitPurpose): Promise<JoinGrant | Refusal> => {
    if (token === "") return refuse(401, "no token")
    if (entering >= maxEntering) return refuse(503, "too many joins at once")
    entering++
    try {
      const verdict = await options.admit(token, purpose)
      // On a 404 the SDKs take this for a server of another age and try their older path.
      if ("refused" in verdict && verdict.refused.status === 404) return refuse(401, verdict.refused.message)
      return verdict
    } catch {
      return refuse(500, "the token could not be checked")
    } finally {
      entering--
    }
  }

  /** From the request to the signalling socket, which then lives in the fiber of this. */
  const enter = Effect.fnUntraced(function* (
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    mode: "single" | "dual"
  ) {
    const query = readJoinQuery(request, mode)
    if (query === undefined) return refuseUpgrade(socket, 400, "the join request cannot be read")
    const isResume = query.resumeSid !== undefined
    const isLive = calls.ofToken(query.token) !== undefined
    const grant = yield* Effect.promise(() => admit(query.token, isLive || isResume ? "rejoin" : "join"))
    if ("refused" in grant) return refuseUpgrade(socket, grant.refused.status, grant.refused.message)
    const known = calls.get(grant.sessionId)
    const isFull = calls.size >= (options.maxSessions ?? Number.POSITIVE_INFINITY)
    if (known === undefined && isFull) return refuseUpgrade(socket, 503, "no free place for another call")
    const isUnknown = isResume && (known === undefined || known.userSid !== query.resumeSid)
    const call = isUnknown ? undefined : yield* calls.getOrOpen(grant)
    if (call !== undefined) calls.remember(query.token, grant.sessionId)
    sockets.handleUpgrade(request, socket, head, (ws) => {
      if (call === undefined) sendAway(ws)
      else run(serveClient(call, ws, query))
    })
  })

  return {
    handleUpgrade: (request, socket, head) => {
      const at = signalPath(request.url ?? "")
      if (at?.path !== "join") return false
      socket.on("error", () => socket.destroy())
      const shuttingDown = Effect.sync(() => refuseUpgrade(socket, 503, "shutting down"))
      const failed = Effect.sync(() => refuseUpgrade(socket, 500, "the join failed"))
      if (isClosed()) refuseUpgrade(socket, 503, "shutting down")
      else {
        run(
          enter(request, socket, head, at.mode).pipe(
            Effect.onInterrupt(() => shuttingDown),
            Effect.catchDefect(() => failed)
          )
        )
      }
      return true
    },
    handleValidate: (request, response) => {
      if (signalPath(request.url ?? "")?.path !== "validate") return false
      const token = tokenOf(request)
      if (request.method === "OPTIONS") answer(response, 204, "")
      else if (calls.ofToken(token) !== undefined) answer(response, 200, "success")
      else {
        void admit(token, "validate").then((grant) =>
          "refused" in grant
            ? answer(response, grant.refused.status, grant.refused.message)
            : answer(response, 200, "success")
        )
      }
      return true
    },
    close: () => Effect.runPromise(Scope.close(scope, Exit.void)),
    stats: () => ({ calls: calls.liveCount, sockets: sockets.clients.size, entering })
  }
}

/** The websockets outlive the fibers, so that calls can say why they end. */
const acquire = Effect.gen(function* () {
  const sockets = yield* Effect.acquireRelease(
    Effect.sync(() => new WebSocketServer({ noServer: true, maxPayload: maxSignalBytes, clientTracking: true })),
    (server) =>
      Effect.sync(() => {
        for (const ws of server.clients) ws.terminate()
        server.close()
      })
  )
  const run = yield* FiberSet.makeRuntime<never, void>()
  return { sockets, run }
})

/** The calls by session, and which of them a token belongs to; of tokens only the hash is kept. */
class LiveCalls {
  readonly #options: LiveKitServerOptions
  readonly #callOptions: CallOptions
  readonly #run: (effect: Effect.Effect<void>) => void
  readonly #calls = new Map<string, Call>()
  readonly #sessionOfToken = new Map<string, string>()
  /** Calls whose codecs are being made: a second join of the same session waits for the first. */
  readonly #opening = new Map<string, Deferred.Deferred<Call>>()

  constructor(options: LiveKitServerOptions, run: (effect: Effect.Effect<void>) => void) {
    this.#options = options
    this.#callOptions = callOptionsOf(options)
    this.#run = run
  }

  /** With those that are being opened. */
  get size(): number {
    return this.#calls.size + this.#opening.size
  }

  get liveCount(): number {
    return this.#calls.size
  }

  get(sessionId: string): Call | undefined {
    return this.#calls.get(sessionId)
  }

  ofToken(token: string): Call | undefined {
    return this.#calls.get(this.#sessionOfToken.get(hash(token)) ?? "")
  }

  remember(token: string, sessionId: string): void {
    this.#sessionOfToken.set(hash(token), sessionId)
  }

  watch(): void {
    for (const call of this.#calls.values()) call.leg.watch()
  }

  /** The call of the session, which is opened in a fiber of its own when there is none. Dies when it cannot be. */
  getOrOpen(grant: JoinGrant): Effect.Effect<Call> {
    return Effect.suspend(() => {
      const { sessionId } = grant
      const known = this.#calls.get(sessionId)
      if (known !== undefined) return Effect.succeed(known)
      const opening = this.#opening.get(sessionId)
      if (opening !== undefined) return Deferred.await(opening)
      const opened = Deferred.makeUnsafe<Call>()
      this.#opening.set(sessionId, opened)
      this.#run(this.#live(grant, opened))
      return Deferred.await(opened)
    })
  }

  /** One call from its codecs to the last free port. */
  #live(grant: JoinGrant, opened: Deferred.Deferred<Call>): Effect.Effect<void> {
    const { sessionId, identity, room } = grant
    const onLeg = (leg: Leg): void => this.#options.onLeg(sessionId, leg, { identity, room })
    const live = Effect.scoped(
      Effect.gen({ self: this }, function* () {
        const exit = yield* Effect.exit(openCall(grant, this.#callOptions, onLeg))
        this.#opening.delete(sessionId)
        if (Exit.isSuccess(exit)) this.#calls.set(sessionId, exit.value)
        Deferred.doneUnsafe(opened, exit)
        const call = yield* exit
        yield* Effect.asVoid(call.over)
      })
    )
    return Effect.ensuring(
      Effect.ignoreCause(live),
      Effect.suspend(() => this.#forget(sessionId))
    )
  }

  #forget(sessionId: string): Effect.Effect<void> {
    const call = this.#calls.get(sessionId)
    this.#opening.delete(sessionId)
    this.#calls.delete(sessionId)
    for (const [token, id] of this.#sessionOfToken) if (id === sessionId) this.#sessionOfToken.delete(token)
    if (call === undefined) return Effect.void
    return Effect.map(call.over, (how) => this.#options.onReleased?.(sessionId, how))
  }
}

const callOptionsOf = (options: LiveKitServerOptions): CallOptions => ({
  iceServers: options.iceServers ?? [],
  timings: {
    graceMs: options.graceMs ?? 15_000,
    silenceMs: options.silenceMs ?? 20_000,
    setupMs: options.setupMs ?? 15_000,
    rejoinMs: options.rejoinMs ?? 1000
  },
  nowMs: options.nowMs ?? (() => performance.now()),
  ...(options.advertisedAddress === undefined ? {} : { advertisedAddress: options.advertisedAddress }),
  ...(options.portRange === undefined ? {} : { portRange: options.portRange })
})

/** One signalling socket of a call until it closes. It listens before this returns. */
const serveClient = (call: Call, ws: WebSocket, query: JoinQuery): Effect.Effect<void> => {
  const socket: SignalSocket = new SignalSocket(ws, () => call.socketClosed(socket))
  const first = query.resumeSid === undefined ? call.join(socket, query) : call.resume(socket, query)
  return socket.serve(first, (message) => call.handle(socket, message))
}

/** A resume of something that is no more: the client then does a full join. */
const sendAway = (ws: WebSocket): void => {
  const socket = new SignalSocket(ws, () => undefined)
  socket.send({
    case: "leave",
    value: new LeaveRequest({
      action: LeaveRequest_Action.RECONNECT,
      reason: DisconnectReason.STATE_MISMATCH,
      canReconnect: true
    })
  })
  socket.close(closeCode.normal, "unknown participant")
}

/** Readable by a page of any origin. */
const answer = (response: ServerResponse, status: number, message: string): void => {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "access-control-allow-origin": "*",
    "access-control-allow-headers": "*"
  })
  response.end(message)
}

const hash = (token: string): string => createHash("sha256").update(token).digest("base64url")
