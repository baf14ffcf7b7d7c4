// Where a trunk is (RFC 3263): an address is itself, a name without a port is asked for its SRV records, then for its
// addresses. Bounded; what cannot be found is nowhere.
import { promises as dns } from "node:dns"
import { isIP } from "node:net"
import type { Located, OutboundTrunk, SipTransport } from "../phone/Phone.ts"

const lookupMs = 5_000

/** In the order to try them; empty when there is nothing of that name. */
export const locate = async ({ transport, uri }: OutboundTrunk): Promise<ReadonlyArray<Located>> => {
  const [host, port] = hostAndPort(uri)
  const wanted = transport === "auto" ? "udp" : transport
  if (isIP(host) !== 0) return [{ transport: wanted, address: host, port: port ?? defaultPort(wanted), host }]
  if (port === undefined) {
    const services = transport === "auto" ? (["udp", "tcp", "tls"] as const) : [transport]
    for (const service of services) {
      const found = await within(dns.resolveSrv(serviceName(service, host)))
      const ordered = (found ?? []).toSorted((a, b) => a.priority - b.priority || b.weight - a.weight)
      const places = await Promise.all(ordered.slice(0, 4).map((record) => addressesOf(record.name)))
      const all = places.flatMap((addresses, i) =>
        addresses.map((address) => ({ transport: service, address, port: ordered[i]?.port ?? 5060, host }))
      )
      if (all.length > 0) return all
    }
  }
  const addresses = await addressesOf(host)
  return addresses.map((address) => ({ transport: wanted, address, port: port ?? defaultPort(wanted), host }))
}

/** `host`, `host:port`, `[v6]`, `[v6]:port`, a bare IPv6 address. */
export const hostAndPort = (uri: string): readonly [host: string, port: number | undefined] => {
  const bracketed = /^\[([0-9a-f:.]+)\](?::(\d{1,5}))?$/i.exec(uri)
  if (bracketed !== null) return [bracketed[1] ?? "", bracketed[2] === undefined ? undefined : Number(bracketed[2])]
  if (isIP(uri) === 6) return [uri, undefined]
  const plain = /^([^:]+)(?::(\d{1,5}))?$/.exec(uri)
  return [plain?.[1] ?? uri, plain?.[2] === undefined ? undefined : Number(plain[2])]
}

const defaultPort = (transport: SipTransport): number => (transport === "tls" ? 5061 : 5060)

const serviceName = (transport: SipTransport, host: string): string =>
  transport === "tls" ? `_sips._tcp.${host}` : `_sip._${transport}.${host}`

const addressesOf = async (host: string): Promise<ReadonlyArray<string>> => {
  if (isIP(host) !== 0) return [host]
  const found = await within(dns.lookup(host, { all: true }))
  return (found ?? []).map(({ address }) => address)
}

/** Undefined when it fails or takes too long. */
const within = <A>(asked: Promise<A>): Promise<A | undefined> => {
  let limit: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => (limit = setTimeout(() => resolve(undefined), lookupMs)))
  return Promise.race([asked.catch(() => undefined), late]).finally(() => clearTimeout(limit))
}
