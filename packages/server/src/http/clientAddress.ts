// Whose address a request counts against: the peer's, or behind trusted proxies the last one in `X-Forwarded-For` that none of
// them wrote. IPv6 by its /64, since one client owns all of it (RFC 6177).
import { embeddedV4, type IpAddress, type IpBlock, isWithin, parseAddress } from "@parley/workspace/outbound/IpAddress"
import { Context, Effect, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import type { IncomingMessage } from "node:http"
import { Settings } from "../Settings.ts"

/** The address of the socket's peer, and the header it sent. */
export interface Connection {
  readonly remote: string | undefined
  readonly forwardedFor: string | undefined
}

/** Of the socket whose handshake is handled. HTTP requests are found in the context by themselves. */
export class CurrentConnection extends Context.Reference<Connection | undefined>("@parley/server/CurrentConnection", {
  defaultValue: () => undefined
}) {}

/** The client of the request or socket at hand, as limits count it: an IPv4 address, or an IPv6 prefix. */
export const clientAddress: Effect.Effect<string, never, Settings> = Effect.gen(function* () {
  const { trustedProxies } = yield* Settings
  return clientOf(yield* connection, trustedProxies)
})

/** The connection of a request that the framework does not see. */
export const connectionOf = ({ headers, socket }: IncomingMessage): Connection => ({
  remote: socket.remoteAddress,
  forwardedFor: [headers["x-forwarded-for"] ?? []].flat().join(",")
})

const connection = Effect.contextWith((context: Context.Context<never>) => {
  const current = Context.get(context, CurrentConnection)
  if (current !== undefined) return Effect.succeed(current)
  const request = Option.getOrUndefined(Context.getOption(context, HttpServerRequest.HttpServerRequest))
  return Effect.succeed<Connection>({
    remote: request === undefined ? undefined : Option.getOrUndefined(request.remoteAddress),
    forwardedFor: request?.headers["x-forwarded-for"]
  })
})

/** `trusted`: the proxies whose word counts. Empty when nothing is known. */
export const clientOf = ({ forwardedFor, remote }: Connection, trusted: ReadonlyArray<IpBlock>): string => {
  let client = remote === undefined ? undefined : plain(remote)
  for (const entry of (forwardedFor ?? "").split(",").toReversed()) {
    if (client === undefined || !trusted.some((block) => isWithin(client as IpAddress, block))) break
    const said = plain(entry.trim())
    if (said === undefined) break
    client = said
  }
  return client === undefined ? (remote ?? "") : named(client)
}

/** IPv4-mapped addresses are IPv4. */
const plain = (text: string): IpAddress | undefined => {
  const address = parseAddress(text)
  return address?.family === 6 && address.value >> 32n === 0xffffn ? embeddedV4(address) : address
}

const named = ({ family, value }: IpAddress): string =>
  family === 4
    ? [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join(".")
    : `${[112n, 96n, 80n, 64n].map((shift) => ((value >> shift) & 0xffffn).toString(16)).join(":")}::/64`
