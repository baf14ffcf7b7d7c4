// Where a request of ours within a call goes when its route or its target is not the far side's own address (RFC 3261,
// 12.2.1.1). Pure.
import { BlockList, isIP } from "node:net"
import type { MayReach } from "../phone/Phone.ts"
import type { Flow } from "./Flow.ts"

/** A place as a route or a target names it. */
export interface Hop {
  readonly host: string
  readonly port: number
}

/**
 * The hop, where it is another place than the flow's; undefined stays on the flow. So do names, addresses that may not be
 * reached, and private ones behind a public far side, which nobody can reach.
 */
export const elsewhere = (
  { remote }: Pick<Flow, "remote">,
  hop: Hop | undefined,
  mayReach: MayReach
): Hop | undefined => {
  if (hop === undefined || isIP(hop.host) === 0) return undefined
  if (hop.host === remote.address && hop.port === remote.port) return undefined
  if (hop.port < 1 || hop.port > 65_535 || !mayReach(hop.host)) return undefined
  return isPrivate(hop.host) && !isPrivate(remote.address) ? undefined : hop
}

/** Loopback, private use, link-local, shared (RFC 6890) and unique local addresses (RFC 4193). */
const privateBlocks = new BlockList()
for (const [network, prefix] of [
  ["10.0.0.0", 8],
  ["127.0.0.0", 8],
  ["192.168.0.0", 16],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["100.64.0.0", 10]
] as const) {
  privateBlocks.addSubnet(network, prefix, "ipv4")
}
privateBlocks.addAddress("::1", "ipv6")
privateBlocks.addSubnet("fc00::", 7, "ipv6")
privateBlocks.addSubnet("fe80::", 10, "ipv6")

const isPrivate = (address: string): boolean => privateBlocks.check(address, isIP(address) === 6 ? "ipv6" : "ipv4")
