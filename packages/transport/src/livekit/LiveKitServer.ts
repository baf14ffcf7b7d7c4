// The WebRTC door: unmodified LiveKit clients join here, each to a call with one agent. Speaks HTTP only to
// refuse: `GET /rtc/validate` exists because a browser cannot read why a websocket was turned down.
// Whether someone may come in is asked of `admit`; what becomes of the leg is up to `onLeg`.
import { DisconnectReason, LeaveRequest, LeaveRequest_Action } from "@livekit/protocol"
import type { Leg } from "@parley/engine/leg/Leg"
import { createHash } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { WebSocketServer, type WebSocket } from "ws"
import { makeCall, type Call, type CallSeat } from "./Call.ts"
import type { IceServer } from "./Connection.ts"
import { readJoinQuery, signalPath, tokenOf, type JoinQuery } from "./JoinQuery.ts"
import { closeCode, SignalSocket } from "./SignalSocket.ts"

export interface Refusal {
  readonly refused: { readonly status: number; readonly message: string }
}

/**
 * Why the token is shown: `join` begins a call and uses it up; `validate` only asks whether a join would
 * work; `rejoin` comes from a client whose call is live (resume or full reconnect), with the same token.
 */
export type AdmitPurpose = "validate" | "join" | "rejoin"

export interface LegInfo {
  readonly identity: string
  readonly room: string
}

export interface LiveKitServerOptions {
  readonly admit: (token: string, purpose: AdmitPurpose) => Promise<CallSeat | Refusal>
  /** Once per call, when media flows: whatever is played from here on can be heard. */
  readonly onLeg: (sessionId: string, leg: Leg, info: LegInfo) => void
  /** Once per call, when nothing of it is left; also when media never flowed and no leg was handed over. */
  readonly onReleased?: (sessionId: string, how: "left" | "lost" | "failed" | "closed") => void
  /** Told to clients (TURN). The door itself uses its own addresses only. */
  readonly iceServers?: ReadonlyArray<IceServer>
  readonly advertisedAddress?: string
  readonly portRange?: readonly [min: number, max: number]
  /** How long a client may be without signalling before its leg is lost. */
  readonly graceMs?: number
  /** How long a leg may show no sign of life. */
  readonly silenceMs?: number
  /** Calls at the same time; further joins get 503. */
  readonly maxSessions?: number
  readonly setupMs?: number
  readonly rejoinMs?: number
  readonly nowMs?: () => number
}

export interface LiveKitServerStats {
  readonly calls: number
  readonly sockets: number
  /** Joins waiting for `admit` or for their codecs. */
  readonly entering: number
}

export interface LiveKitServer {
  /** False when the request is for someone else. */
  readonly handleUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean
  readonly handleValidate: (request: IncomingMessage, response: ServerResponse) => boolean
  /** Turns everyone out; resolves when ports, timers and sockets are free. */
  readonly close: () => Promise<void>
  readonly stats: () => LiveKitServerStats
}

const maxSignalBytes = 64 * 1024
const watchMs = 500
/** Requests in `admit` at the same time; a flood is turned away before it costs anything. */
const maxEntering = 64

export const makeLiveKitServer = (options: LiveKitServerOptions): LiveKitServer => {
  const server = new WebSocketServer({ noServer: true, maxPayload: maxSignalBytes, clientTracking: true })
  const calls = new Map<string, Call>()
  /** Which live call a token belongs to; only its hash is kept. */
  const callOfToken = new Map<string, string>()
  /** Calls whose codecs are being made: a second join of the same session waits for the first. */
  const making = new Map<string, Promise<Call>>()
  let entering = 0
  let watch: NodeJS.Timeout | undefined
  let closed: Promise<void> | undefined

  const callOptions = {
    iceServers: options.iceServers ?? [],
    graceMs: options.graceMs ?? 15_000,
    silenceMs: options.silenceMs ?? 20_000,
    setupMs: options.setupMs ?? 15_000,
    rejoinMs: options.rejoinMs ?? 1000,
    nowMs: options.nowMs ?? (() => performance.now()),
    ...(options.advertisedAddress === undefined ? {} : { advertisedAddress: options.advertisedAddress }),
    ...(options.portRange === undefined ? {} : { portRange: options.portRange })
  }

  const liveCall = (token: string): Call | undefined => calls.get(callOfToken.get(hash(token)) ?? "")

  const admit = async (token: string, purpose: AdmitPurpose): Promise<CallSeat | Refusal> => {
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

  const makeLiveCall = (seat: CallSeat): Promise<Call> => {
    const { sessionId } = seat
    const known = calls.get(sessionId)
    if (known !== undefined) return Promise.resolve(known)
    const made =
      making.get(sessionId) ??
      makeCall(seat, callOptions, {
        onLeg: (leg) => options.onLeg(sessionId, leg, { identity: seat.identity, room: seat.room }),
        onReleased: (how) => {
          forget(sessionId)
          options.onReleased?.(sessionId, how)
        }
      })
        .then((call) => {
          calls.set(sessionId, call)
          watch ??= setInterval(() => calls.forEach((one) => one.watch()), watchMs)
          return call
        })
        .finally(() => making.delete(sessionId))
    making.set(sessionId, made)
    return made
  }

  const forget = (sessionId: string): void => {
    calls.delete(sessionId)
    for (const [token, id] of callOfToken) if (id === sessionId) callOfToken.delete(token)
    if (calls.size > 0) return
    clearInterval(watch)
    watch = undefined
  }

  const enter = async (
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    mode: "single" | "dual"
  ): Promise<void> => {
    const query = readJoinQuery(request, mode)
    if (query === undefined) return refuseUpgrade(socket, 400, "the join request cannot be read")
    const isLive = liveCall(query.token) !== undefined
    const isResume = query.resumeSid !== undefined
    const seat = await admit(query.token, isLive || isResume ? "rejoin" : "join")
    if ("refused" in seat) return refuseUpgrade(socket, seat.refused.status, seat.refused.message)
    const known = calls.get(seat.sessionId)
    const isFull = calls.size + making.size >= (options.maxSessions ?? Number.POSITIVE_INFINITY)
    if (known === undefined && isFull) return refuseUpgrade(socket, 503, "no free place for another call")
    const isUnknown = isResume && (known === undefined || known.userSid !== query.resumeSid)
    const call = isUnknown ? undefined : await makeLiveCall(seat)
    if (call !== undefined) callOfToken.set(hash(query.token), seat.sessionId)
    if (closed !== undefined) return refuseUpgrade(socket, 503, "shutting down")
    server.handleUpgrade(request, socket, head, (ws) => {
      if (call === undefined) return sendAway(ws)
      seatClient(call, ws, query)
    })
  }

  return {
    handleUpgrade: (request, socket, head) => {
      const at = signalPath(request.url ?? "")
      if (at?.path !== "join") return false
      socket.on("error", () => socket.destroy())
      if (closed !== undefined) refuseUpgrade(socket, 503, "shutting down")
      else enter(request, socket, head, at.mode).catch(() => refuseUpgrade(socket, 500, "the join failed"))
      return true
    },
    handleValidate: (request, response) => {
      if (signalPath(request.url ?? "")?.path !== "validate") return false
      const token = tokenOf(request)
      const answer = (status: number, message: string): void => {
        response.writeHead(status, {
          "content-type": "text/plain; charset=utf-8",
          "access-control-allow-origin": "*",
          "access-control-allow-headers": "*"
        })
        response.end(message)
      }
      if (request.method === "OPTIONS") answer(204, "")
      else if (liveCall(token) !== undefined) answer(200, "success")
      else {
        void admit(token, "validate").then((seat) =>
          "refused" in seat ? answer(seat.refused.status, seat.refused.message) : answer(200, "success")
        )
      }
      return true
    },
    close: () =>
      (closed ??= (async () => {
        await Promise.allSettled(making.values())
        await Promise.all([...calls.values()].map((call) => call.shutDown()))
        for (const ws of server.clients) ws.terminate()
        server.close()
        clearInterval(watch)
      })()),
    stats: () => ({ calls: calls.size, sockets: server.clients.size, entering })
  }
}

/** The socket's handlers are in place before this returns; whatever follows waits in its queue. */
const seatClient = (call: Call, ws: WebSocket, query: JoinQuery): void => {
  const socket: SignalSocket = new SignalSocket(ws, {
    onMessage: (message) => call.handle(socket, message),
    onClosed: () => call.socketClosed(socket)
  })
  void socket.begin(() => (query.resumeSid === undefined ? call.join(socket, query) : call.resume(socket, query)))
}

/** A resume of something that is no more: the client then does a full join. */
const sendAway = (ws: WebSocket): void => {
  const socket = new SignalSocket(ws, { onMessage: () => undefined, onClosed: () => undefined })
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

const refuse = (status: number, message: string): Refusal => ({ refused: { status, message } })

const statusText: Record<number, string> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  410: "Gone",
  500: "Internal Server Error",
  503: "Service Unavailable"
}

const refuseUpgrade = (socket: Duplex, status: number, message: string): void => {
  if (socket.destroyed) return
  const body = Buffer.from(message)
  socket.end(
    `HTTP/1.1 ${status} ${statusText[status] ?? "Refused"}\r\ncontent-type: text/plain; charset=utf-8\r\n` +
      `access-control-allow-origin: *\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${message}`
  )
}

const hash = (token: string): string => createHash("sha256").update(token).digest("base64url")
