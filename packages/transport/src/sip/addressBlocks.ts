// Lists of addresses and CIDR blocks, as a trunk sets them.
import { BlockList, isIP } from "node:net"

/** Whether an address lies in one of the CIDR blocks or equals one of the addresses. What is no block matches nothing. */
export const among = (blocks: ReadonlyArray<string>, address: string): boolean => {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "")
  const list = new BlockList()
  for (const block of blocks) {
    const [network = "", prefix] = block.split("/")
    const family = isIP(network) === 6 ? "ipv6" : "ipv4"
    try {
      list.addSubnet(network, prefix === undefined ? (family === "ipv6" ? 128 : 32) : Number(prefix), family)
    } catch {
      // A block that is none lets nobody in.
    }
  }
  return list.check(plain, isIP(plain) === 6 ? "ipv6" : "ipv4")
}
