// The WebRTC server: unmodified LiveKit clients join here, each to a call with one agent. Speaks HTTP only to
// refuse: `GET /rtc/validate` exists because a browser cannot read why a websocket was turned down. Calls, sockets and
// joins under way live in one scope; closing it turns everyone out.
import { DisconnectReason, LeaveRequest, LeaveRequest_Action } from "@livekit/protocol"
import type { Leg } from "@parley/engine/leg/Leg"
import { Effect, Exit, FiberSet, Schedule, Scope } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { WebSocketServer, type WebSocket } from "ws"
import type { PeerOptions } from "../webrtc/Peer.ts"
import type { Call, CallOptions, CallTimings, JoinGrant, ReleasedHow } from "./Call.ts"
import { readJoinQuery, signalPath, tokenOf, type JoinQuery } from "./JoinQuery.ts"
import { type Refusal, refuse, refuseUpgrade } from "./refusals.ts"
import { type IceServer } from "./signals.ts"
import { SessionCalls } from "./SessionCalls.ts"
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

/** What the server asks and tells. */
export interface LiveKitHandlers {
  /** What a token is worth, from this address. A rejection or an exception of it is answered with 500. */
  readonly admit: (token: string, purpose: AdmitPurpose, address: string) => Promise<JoinGrant | Refusal>
  /** Once per call, when media flows: whatever is played from here on can be heard. */
  readonly onLeg: (sessionId: string, leg: Leg, info: LegInfo) => void
  /** Once per call, when nothing of it is left; also when media never flowed and no leg was handed over. */
  readonly onReleased?: (sessionId: string, how: ReleasedHow) => void
  /** The client of a call has a signalling socket, or lost it; it may come back. */
  readonly onSignalling?: (sessionId: string, isThere: boolean) => void
}

/** Where media goes: ports and addresses as the machine has them unless said otherwise. */
export interface LiveKitMedia extends PeerOptions {
  /** Told to clients (TURN). The server itself uses its own addresses only. */
  readonly iceServers?: ReadonlyArray<IceServer>
}

/** Who takes the calls, and within which bounds. */
export interface LiveKitServerOptions {
  readonly handlers: LiveKitHandlers
  readonly media?: LiveKitMedia
  /** In milliseconds. Left out: 20 s without a sign of life, 15 s without signalling, 15 s until media flows, 1 s to rejoin. */
  readonly timings?: Partial<CallTimings>
  /** Calls at the same time; further joins get 503. No bound when left out. */
  readonly maxSessions?: number
  /** The clock of the calls in milliseconds; `performance.now` when left out. */
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
  /**
   * Takes an upgrade of `/rtc` and `/rtc/v1`. False when the request is for someone else. `address`: the client's, the peer's
   * when left out.
   */
  readonly handleUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, address?: string) => boolean
  /** Answers `/rtc/validate` and `/rtc/v1/validate`. False when the request is for someone else. */
  readonly handleValidate: (request: IncomingMessage, response: ServerResponse) => boolean
  /** Ends the call of a session whose leg nobody wants any longer. */
  readonly turnAway: (sessionId: string) => void
  /** Turns everyone out; resolves when ports, timers and sockets are free. */
  readonly close: () => Promise<void>
  readonly stats: () => LiveKitServerStats
}

const defaultTimings: CallTimings = { silenceMs: 20_000, graceMs: 15_000, setupMs: 15_000, rejoinMs: 1000 }
const maxSignalBytes = 64 * 1024
const watchMs = 500
/** Requests in `admit` at the same time; a flood is turned away before it costs anything. */
const maxEntering = 64

/** Opens nothing by itself: connections come by `handleUpgrade`, UDP ports per client. */
export const makeLiveKitServer = (options: LiveKitServerOptions): LiveKitServer => {
  const scope = Scope.makeUnsafe()
  const isClosed = (): boolean => scope.state._tag === "Closed"
  const { run, sockets } = Effect.runSync(Scope.provide(acquire, scope))
  const { admit: admitted, onLeg, onReleased, onSignalling } = options.handlers
  const calls = new SessionCalls({
    call: callOptionsOf(options),
    onLeg: ({ identity, room, sessionId }, leg) => onLeg(sessionId, leg, { identity, room }),
    onReleased: (sessionId, how) => onReleased?.(sessionId, how),
    onSignalling: (sessionId, isThere) => onSignalling?.(sessionId, isThere),
    run
  })
  run(
    Effect.repeat(
      Effect.sync(() => calls.watch()),
      Schedule.spaced(watchMs)
    )
  )
  let entering = 0

  const admit = async (token: string, purpose: AdmitPurpose, address: string): Promise<JoinGrant | Refusal> => {
    if (token === "") return refuse(401, "no token")
    if (entering >= maxEntering) return refuse(503, "too many joins at once")
    entering++
    try {
      const grant = await admitted(token, purpose, address)
      // On a 404 the SDKs take this for a server of another age and try their older path.
      if ("refused" in grant && grant.refused.status === 404) return refuse(401, grant.refused.message)
      return grant
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
    { address, mode }: { readonly address: string; readonly mode: "single" | "dual" }
  ) {
    const query = readJoinQuery(request, mode)
    if (query === undefined) return refuseUpgrade(socket, 400, "the join request cannot be read")
    const isResume = query.resumeSid !== undefined
    const isLive = calls.ofToken(query.token) !== undefined
    const grant = yield* Effect.promise(() => admit(query.token, isLive || isResume ? "rejoin" : "join", address))
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
    handleUpgrade: (request, socket, head, address = request.socket.remoteAddress ?? "") => {
      const at = signalPath(request.url ?? "")
      if (at?.path !== "join") return false
      socket.on("error", () => socket.destroy())
      const shuttingDown = Effect.sync(() => refuseUpgrade(socket, 503, "shutting down"))
      const failed = Effect.sync(() => refuseUpgrade(socket, 500, "the join failed"))
      if (isClosed()) refuseUpgrade(socket, 503, "shutting down")
      else {
        run(
          enter(request, socket, head, { address, mode: at.mode }).pipe(
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
        void admit(token, "validate", request.socket.remoteAddress ?? "").then((grant) =>
          "refused" in grant
            ? answer(response, grant.refused.status, grant.refused.message)
            : answer(response, 200, "success")
        )
      }
      return true
    },
    turnAway: (sessionId) => calls.get(sessionId)?.leg.close("agent_hangup"),
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

const callOptionsOf = ({ media, nowMs, timings }: LiveKitServerOptions): CallOptions => ({
  ...media,
  iceServers: media?.iceServers ?? [],
  timings: { ...defaultTimings, ...timings },
  nowMs: nowMs ?? (() => performance.now())
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
