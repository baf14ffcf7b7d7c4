// A server behind a real HTTP server, with an agent that says a tone and listens: the far end of the wire tests.
import type { ClientEvent } from "@parley/contract/ClientEvent"
import type { Leg } from "@parley/engine/leg/Leg"
import { errors, jwtVerify, SignJWT } from "jose"
import { createServer } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import {
  type LiveKitHandlers,
  type LiveKitServer,
  type LiveKitServerOptions,
  makeLiveKitServer
} from "../../src/livekit/LiveKitServer.ts"
import { makeTone, Recent } from "./tone.ts"

const secret = new TextEncoder().encode("a secret of the tests, long enough for anyone")
export const agentHz = 1000
export const agentLevel = 0.366

export interface HostCall {
  readonly sessionId: string
  readonly leg: Leg
  readonly ears: Recent
  readonly events: Array<ClientEvent>
  readonly digits: Array<string>
  frames: number
  closed: string | undefined
}

export interface Host {
  readonly url: string
  readonly server: LiveKitServer
  readonly calls: Map<string, HostCall>
  readonly legsMade: () => number
  /** A join token, valid for ten minutes. */
  readonly token: (sessionId: string) => Promise<string>
  /** Cuts the network under every signalling socket, without a goodbye. */
  readonly cutSockets: () => number
  readonly close: () => Promise<void>
}

interface TokenClaims {
  readonly name?: string
  readonly video?: { readonly room?: string }
}

const faultOf = (error: unknown): string => (error instanceof errors.JWSInvalid ? "malformed" : "bad")

/** The server as it is, but for what is given; handlers replace those of the host. */
export interface HostOptions extends Omit<Partial<LiveKitServerOptions>, "handlers"> {
  readonly handlers?: Partial<LiveKitHandlers>
}

/** `script` is run by the page served at `/`. */
export const startHost = async (options: HostOptions = {}, script?: string): Promise<Host> => {
  const calls = new Map<string, HostCall>()
  const sockets = new Set<Socket>()
  const used = new Set<string>()
  let legsMade = 0

  const handlers: LiveKitHandlers = {
    admit: async (token, purpose) => {
      const claims = await jwtVerify<TokenClaims>(token, secret, { algorithms: ["HS256"] }).then(
        ({ payload }) => payload,
        faultOf
      )
      if (typeof claims === "string") return { refused: { status: 401, message: `token refused: ${claims}` } }
      const { name = "", sub = "", video } = claims
      if (purpose !== "rejoin" && used.has(token)) return { refused: { status: 401, message: "token already used" } }
      if (purpose === "join") used.add(token)
      return { sessionId: video?.room ?? "", identity: sub, name, room: video?.room ?? "" }
    },
    onLeg: (sessionId, leg) => {
      legsMade++
      const call: HostCall = {
        sessionId,
        leg,
        ears: new Recent(16_000),
        events: [],
        digits: [],
        frames: 0,
        closed: undefined
      }
      calls.set(sessionId, call)
      leg.attach({
        onFrame: (samples) => {
          call.frames++
          call.ears.push(samples)
        },
        onEvent: (event) => void call.events.push(event),
        onDigit: (digit) => void call.digits.push(digit),
        onClosed: (how) => {
          call.closed = how
        }
      })
      leg.tell({ _tag: "State", state: "listening" })
    }
  }
  const livekit = makeLiveKitServer({ ...options, handlers: { ...handlers, ...options.handlers } })

  const tones = new WeakMap<HostCall, (samples: number) => Int16Array>()
  const tick = setInterval(() => {
    for (const call of calls.values()) {
      const tone = tones.get(call) ?? makeTone(call.leg.playRate, agentHz, agentLevel)
      tones.set(call, tone)
      call.leg.play(tone(call.leg.playRate / 50))
    }
  }, 20)

  const server = createServer((request, response) => {
    if (livekit.handleValidate(request, response)) return
    if (script === undefined || request.url !== "/") return void response.writeHead(404).end("not found")
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" })
    response.end(
      `<!doctype html><title>wire</title><body><script>${script.replaceAll("</script", "<\\/script")}</script>`
    )
  })
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
  })
  server.on("upgrade", (request, socket, head) => {
    if (!livekit.handleUpgrade(request, socket, head)) socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo

  return {
    url: `ws://127.0.0.1:${port}`,
    server: livekit,
    calls,
    legsMade: () => legsMade,
    token: (sessionId) =>
      new SignJWT({ name: "A user", video: { room: sessionId, roomJoin: true } })
        .setProtectedHeader({ alg: "HS256" })
        .setIssuer("key")
        .setSubject(`user-${sessionId}`)
        .setJti(`${sessionId}-${Math.random()}`)
        .setExpirationTime("10 min")
        .sign(secret),
    cutSockets: () => {
      const cut = sockets.size
      for (const socket of sockets) socket.destroy()
      return cut
    },
    close: async () => {
      clearInterval(tick)
      await livekit.close()
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
