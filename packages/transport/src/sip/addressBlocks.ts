// Lists of addresses and CIDR blocks, as a trunk sets them.
import { BlockList, isIP } from "node:net"

/**
 * The prefix length of the narrowest of the CIDR blocks that an address lies in, an address being a block of its own;
 * IPv4 as part of IPv6 (96 more), so that lengths compare. Undefined: in none. What is no block matches nothing.
 */
export const narrowest = (blocks: ReadonlyArray<string>, address: string): number | undefined => {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "")
  const ofAddress = isIP(plain) === 6 ? "ipv6" : "ipv4"
  let best: number | undefined
  for (const block of blocks) {
    const [network = "", prefix] = block.split("/")
    const family = isIP(network) === 6 ? "ipv6" : "ipv4"
    const length = prefix === undefined ? (family === "ipv6" ? 128 : 32) : Number(prefix)
    const list = new BlockList()
    try {
      list.addSubnet(network, length, family)
    } catch {
      // A block that is none lets nobody in.
      continue
    }
    if (list.check(plain, ofAddress)) best = Math.max(best ?? 0, family === "ipv6" ? length : length + 96)
  }
  return best
}
