// One HTTP/1.1 request over a socket that `Dial` opened. Follows no redirect, knows no proxy setting, asks for no
// compression. Message framing (RFC 9112) is never the customer's: such headers are refused.
import { framingNames } from "@parley/contract/Tool"
import { type Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http"
import type { Socket } from "node:net"
import { hostOf, mayBePublic, parseUrl } from "./CustomerUrl.ts"
import type { AllowedPrivate } from "./AllowedPrivate.ts"
import { OutboundError } from "./OutboundError.ts"

/** In order; names may repeat. */
export type HeaderList = ReadonlyArray<readonly [name: string, value: string]>

/** A request that is to be sent. */
export interface Outgoing {
  readonly method: string
  readonly url: string
  readonly headers: HeaderList
  readonly body: string | Uint8Array | undefined
}

/** By whom the request finds its socket: one of its own, or a pool. */
export type Way = { readonly socket: Socket } | { readonly agent: Agent }

/** Everything that is known of the address before it is resolved. Throws an OutboundError. */
export const checkedUrl = (value: string, allowed: AllowedPrivate): URL => {
  const url = parseUrl(value)
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw unsendable("not an HTTP address")
  if (url.username !== "" || url.password !== "") throw unsendable("credentials in the address")
  const host = hostOf(url)
  if (!mayBePublic(host) && !allowed.names.has(host) && allowed.blocks.length === 0) {
    throw new OutboundError({ reason: "Forbidden", message: "the address is not public" })
  }
  return url
}

/** The head of the answer; its body is still to be read. Rejects with an OutboundError. */
export const exchange = (url: URL, outgoing: Outgoing, way: Way, signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const body = outgoing.body === undefined ? undefined : Buffer.from(outgoing.body)
    let request: ClientRequest
    try {
      request = httpRequest({
        method: outgoing.method,
        host: url.hostname,
        port: Number(url.port) || (url.protocol === "https:" ? 443 : 80),
        path: `${url.pathname}${url.search}`,
        headers: headersOf(url, outgoing, body?.length, "socket" in way),
        setHost: false,
        signal,
        ...("agent" in way ? { agent: way.agent } : { createConnection: () => way.socket })
      })
    } catch {
      if ("socket" in way) way.socket.destroy()
      return reject(unsendable("a header or method that cannot be sent"))
    }
    request.once("response", resolve)
    request.once("upgrade", (_answer, socket) => {
      socket.destroy()
      reject(brokenOff())
    })
    request.on("error", (error: NodeJS.ErrnoException) =>
      reject(error instanceof OutboundError ? error : new Interrupted(request.reusedSocket, error.code))
    )
    request.once("close", () => reject(brokenOff()))
    request.end(body)
  })

/** The connection ended before an answer began. */
export class Interrupted extends OutboundError {
  /** The server had closed a connection of the pool meanwhile; a new one may do. */
  readonly stale: boolean
  constructor(reused: boolean, code: string | undefined) {
    super({
      reason: code === "ABORT_ERR" ? "Timeout" : "BrokenOff",
      message: code === "ABORT_ERR" ? "no answer in time" : brokenOffText
    })
    this.stale = reused && (code === "ECONNRESET" || code === "EPIPE")
  }
}

const brokenOffText = "the connection broke off"

/** The connection ended before the answer was whole. */
export const brokenOff = () => new OutboundError({ reason: "BrokenOff", message: brokenOffText })

const unsendable = (what: string) => new OutboundError({ reason: "InvalidRequest", message: `the request has ${what}` })

const headersOf = (
  url: URL,
  { headers, method }: Outgoing,
  bodyBytes: number | undefined,
  once: boolean
): ReadonlyArray<string> => {
  if (headers.some(([name]) => framingNames.test(name))) throw unsendable("a header of the connection")
  const given = new Set(headers.map(([name]) => name.toLowerCase()))
  const length = bodyBytes ?? (/^(POST|PUT|PATCH)$/.test(method) ? 0 : undefined)
  const own: HeaderList = [
    ["user-agent", "Parley/1"],
    ["accept", "*/*"]
  ]
  return [
    ["host", url.host] as const,
    ...own.filter(([name]) => !given.has(name)),
    ["accept-encoding", "identity"] as const,
    ...(once ? [["connection", "close"] as const] : []),
    ...headers,
    ...(length === undefined ? [] : [["content-length", String(length)] as const])
  ].flat()
}
