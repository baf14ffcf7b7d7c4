// A socket to a host that a customer named. The address that was checked is the address that is connected to: names
// are resolved here, once for each connection, every answer is checked, and one bad answer refuses the host, so that
// a name cannot show one address and mean another (DNS rebinding). Nothing else in the service opens such a socket.
import { lookup } from "node:dns/promises"
import { connect as connectTcp, isIPv6, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import type { AllowedPrivate } from "./AllowedPrivate.ts"
import { hostOf } from "./CustomerUrl.ts"
import { parseAddress } from "./IpAddress.ts"
import { OutboundError } from "./OutboundError.ts"
import { isReachable } from "./reachable.ts"

/** One address, as text, to connect to. */
export interface Target {
  readonly address: string
  readonly port: number
  /** For SNI and the certificate; undefined without TLS. */
  readonly tlsHost: string | undefined
}

/** What dialling needs of the machine. */
export interface DialParts {
  readonly allowed: AllowedPrivate
  /** All addresses of a name; rejects when there is none. */
  readonly resolve: (host: string) => Promise<ReadonlyArray<string>>
  /** Connects to exactly this address. */
  readonly open: (target: Target) => Socket
}

/** The system's resolver and sockets. */
export const systemParts = (allowed: AllowedPrivate): DialParts => ({
  allowed,
  resolve: async (host) => (await lookup(host, { all: true, order: "verbatim" })).map(({ address }) => address),
  open: ({ address, port, tlsHost }) =>
    tlsHost === undefined
      ? connectTcp({ host: address, port })
      : connectTls({
          host: address,
          port,
          ALPNProtocols: ["http/1.1"],
          // No SNI for literal addresses (RFC 6066 section 3); the certificate is then held against the address.
          ...(parseAddress(tlsHost) === undefined ? { servername: tlsHost } : {})
        })
})

/** With another address at hand the next one is tried after this. */
const attemptMs = 2_000
const mostAddresses = 6

/** A connected socket, or an OutboundError. `signal` bounds it all. */
export const dial = async (url: URL, parts: DialParts, signal: AbortSignal): Promise<Socket> => {
  const host = hostOf(url)
  const targets = (await checkedAddresses(host, parts, signal)).slice(0, mostAddresses).map((address): Target => ({
    address,
    port: Number(url.port) || (url.protocol === "https:" ? 443 : 80),
    tlsHost: url.protocol === "https:" ? bare(host) : undefined
  }))
  let last = new OutboundError({ reason: "Unreachable", message: "no connection to the host" })
  for (const [index, target] of targets.entries()) {
    try {
      return await connected(parts.open(target), target, index < targets.length - 1 ? attemptMs : undefined, signal)
    } catch (error) {
      if (!(error instanceof OutboundError) || error.reason !== "Unreachable") throw error
      last = error
    }
  }
  throw last
}

const checkedAddresses = async (
  host: string,
  parts: DialParts,
  signal: AbortSignal
): Promise<ReadonlyArray<string>> => {
  const literal = parseAddress(host)
  const addresses = literal === undefined ? await resolved(host, parts, signal) : [bare(host)]
  if (!addresses.every((address) => isReachable(parts.allowed, address, host))) {
    throw new OutboundError({ reason: "Forbidden", message: "the address is not public" })
  }
  return interleaved(addresses)
}

const resolved = async (host: string, parts: DialParts, signal: AbortSignal): Promise<ReadonlyArray<string>> => {
  const addresses = await Promise.race([
    parts.resolve(host).catch(() => []),
    // The resolver cannot be interrupted; nobody waits for it any longer.
    new Promise<never>((_, reject) => {
      const give = () => reject(timedOut())
      if (signal.aborted) give()
      else signal.addEventListener("abort", give, { once: true })
    })
  ])
  if (addresses.length === 0) throw new OutboundError({ reason: "Unresolved", message: "the host name has no address" })
  return addresses
}

const connected = (socket: Socket, target: Target, ms: number | undefined, signal: AbortSignal): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const ready = target.tlsHost === undefined ? "connect" : "secureConnect"
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", onAbort)
      socket.removeListener(ready, onReady)
    }
    const give = (error: OutboundError) => {
      done()
      socket.destroy()
      reject(error)
    }
    const onReady = () => {
      done()
      // Whoever takes the socket over listens from the next tick on; an error before that ends it, no more.
      socket.removeListener("error", onError).on("error", () => {})
      resolve(socket)
    }
    const onError = (error: NodeJS.ErrnoException) => give(connectFault(error))
    const onAbort = () => give(timedOut())
    const timer = ms === undefined ? undefined : setTimeout(() => give(connectFault({})), ms)
    socket.on("error", onError)
    socket.once(ready, onReady)
    if (signal.aborted) onAbort()
    else signal.addEventListener("abort", onAbort, { once: true })
  })

const timedOut = () => new OutboundError({ reason: "Timeout", message: "no answer in time" })

const connectFault = ({ code = "" }: { readonly code?: string | undefined }): OutboundError =>
  /CERT|SELF_SIGNED|ERR_TLS|UNABLE_TO|ERR_SSL|EPROTO/.test(code)
    ? new OutboundError({ reason: "Untrusted", message: "no trusted TLS connection to the host" })
    : new OutboundError({ reason: "Unreachable", message: "no connection to the host" })

const bare = (host: string): string => host.replace(/^\[|\]$/g, "")

/** Families by turns, the resolver's first choice first: one family without a way out costs one attempt. */
const interleaved = (addresses: ReadonlyArray<string>): ReadonlyArray<string> => {
  const first = addresses.filter((address) => isIPv6(address) === isIPv6(addresses[0] ?? ""))
  const second = addresses.filter((address) => !first.includes(address))
  return first
    .flatMap((address, index) => [address, ...second.slice(index, index + 1)])
    .concat(second.slice(first.length))
}
