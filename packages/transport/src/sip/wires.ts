// The sockets of the SIP server: UDP, TCP and TLS, as flows. Whole messages go up; nothing that arrives throws.
import { createSocket, type RemoteInfo, type Socket as UdpSocket } from "node:dgram"
import { createServer as createTcpServer, connect as connectTcp, type Server, type Socket } from "node:net"
import { createServer as createTlsServer, connect as connectTls } from "node:tls"
import type { Flow } from "./Flow.ts"
import { AddressPlaces } from "./AddressPlaces.ts"
import { Framing } from "./framing.ts"

/** A message, and the flow to answer on. */
export type OnMessage = (text: string, flow: Flow) => void

/** An open socket or listener. */
export interface Wire {
  readonly port: number
  readonly close: () => Promise<void>
}

const connectMs = 8_000
/** A connection nobody speaks on is closed. */
const idleMs = 600_000
/** All open ones of a listener, and those of one address. */
const mostConnections = 2_000
const mostOfAddress = 100
/** Written and not yet taken: the far side has stopped reading. Twice the longest message. */
const mostUnsent = 131_072
const mostUnreadPongs = 1_000

/** A UDP socket, which can send anywhere. */
export interface UdpWire extends Wire {
  readonly flowTo: (address: string, port: number) => Flow
}

/** Rejects when the port is taken. */
export const openUdp = async (host: string, port: number, onMessage: OnMessage): Promise<UdpWire> => {
  const family = host.includes(":") ? 6 : 4
  const socket: UdpSocket = createSocket({
    type: family === 6 ? "udp6" : "udp4",
    lookup: (name, _options, done) => done(null, name, family)
  })
  const sendTo = (text: string, address: string, to: number): void => {
    try {
      socket.send(text, to, address, ignore)
    } catch {
      // Closed, or an address that is none.
    }
  }
  const flowTo = (address: string, to: number): Flow => ({
    transport: "udp",
    remote: { address, port: to },
    reliable: false,
    send: (text) => sendTo(text, address, to),
    sendTo
  })
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject)
    socket.bind(port, host, () => {
      socket.off("error", reject)
      resolve()
    })
  })
  socket.on("error", ignore)
  socket.on("message", (bytes: Buffer, from: RemoteInfo) => {
    // Empty lines before a message mean nothing (RFC 3261, 7.5).
    const text = bytes.toString("utf8").replace(/^(?:\r\n)+/, "")
    // Keep-alives (RFC 5626, 4.4.1 and others).
    if (text.trim() === "" || bytes[0] === 0) return
    onMessage(text, flowTo(from.address, from.port))
  })
  return {
    port: socket.address().port,
    flowTo,
    close: () => new Promise((resolve) => socket.close(() => resolve()))
  }
}

/** Who takes the messages of a connection. */
export interface StreamOptions {
  readonly onMessage: OnMessage
}

const pairTries = 20

/** UDP and TCP on one port, as calls expect it; for port 0 one that is free on both. */
export const openPair = async (
  host: string,
  port: number,
  onMessage: OnMessage
): Promise<readonly [udp: UdpWire, tcp: Wire]> => {
  for (let tries = 1; ; tries++) {
    const udp = await openUdp(host, port, onMessage)
    try {
      return [udp, await openStreams(host, udp.port, undefined, { onMessage })]
    } catch (error) {
      await udp.close()
      if (port !== 0 || tries === pairTries) throw error
    }
  }
}

/** @param secure with a certificate: TLS. */
export const openStreams = async (
  host: string,
  port: number,
  secure: { readonly certificate: string; readonly key: string } | undefined,
  options: StreamOptions
): Promise<Wire> => {
  const transport = secure === undefined ? "tcp" : "tls"
  const open = new Set<Socket>()
  const places = new AddressPlaces(mostOfAddress)
  const accept = (socket: Socket): void => void carry(socket, transport, options)
  const server: Server =
    secure === undefined
      ? createTcpServer(accept)
      : createTlsServer({ cert: secure.certificate, key: secure.key, handshakeTimeout: connectMs }, accept)
  server.maxConnections = mostConnections
  // Before any handshake.
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? ""
    if (!places.take(address)) return socket.destroy()
    open.add(socket)
    socket.once("close", () => {
      open.delete(socket)
      places.free(address)
    })
  })
  server.on("tlsClientError", ignore)
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, host, () => {
      server.off("error", reject)
      resolve()
    })
  })
  server.on("error", ignore)
  const address = server.address()
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy()
        server.close(() => resolve())
      })
  }
}

/** Undefined when nobody takes the connection within 8 s, or its certificate is not good. */
export const connectStream = (
  place: { readonly transport: "tcp" | "tls"; readonly address: string; readonly port: number; readonly host: string },
  authorities: string | undefined,
  options: StreamOptions
): Promise<Flow | undefined> =>
  new Promise((resolve) => {
    const { address, host, port, transport } = place
    const isName = !/^[\d.]+$|:/.test(host)
    const socket =
      transport === "tcp"
        ? connectTcp({ host: address, port })
        : connectTls({
            host: address,
            port,
            ...(isName ? { servername: host } : {}),
            ...(authorities === undefined ? {} : { ca: authorities })
          })
    const limit = setTimeout(() => socket.destroy(), connectMs)
    const failed = (): void => {
      clearTimeout(limit)
      resolve(undefined)
    }
    socket.once("close", failed)
    socket.on("error", ignore)
    socket.once(transport === "tcp" ? "connect" : "secureConnect", () => {
      clearTimeout(limit)
      socket.off("close", failed)
      resolve({ ...carry(socket, transport, options), close: () => socket.destroy() })
    })
  })

const carry = (socket: Socket, transport: "tcp" | "tls", { onMessage }: StreamOptions): Flow => {
  const framing = new Framing()
  socket.setNoDelay(true)
  socket.setTimeout(idleMs, () => socket.destroy())
  const flow: Flow = {
    transport,
    remote: { address: socket.remoteAddress ?? "", port: socket.remotePort ?? 0 },
    reliable: true,
    send: (text) => {
      if (socket.destroyed) return
      if (socket.writableLength > mostUnsent) socket.destroy()
      else socket.write(text)
    }
  }
  // Each pong counts as what keeping it costs, which is more than its two bytes.
  let unread = 0
  const pong = (count: number): void => {
    if (socket.destroyed) return
    if (socket.writableLength === 0) unread = 0
    unread += count
    if (unread > mostUnreadPongs) socket.destroy()
    else socket.write("\r\n".repeat(count))
  }
  socket.on("error", ignore)
  socket.on("data", (bytes) => {
    let pings = 0
    for (const framed of framing.push(bytes)) {
      if (framed.kind === "message") onMessage(framed.text, flow)
      else if (framed.kind === "ping") pings++
      else socket.destroy()
    }
    if (pings > 0) pong(pings)
  })
  return flow
}

const ignore = (): void => undefined
