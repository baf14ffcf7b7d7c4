// The self-hoster's explicit exceptions (PARLEY_ALLOW_PRIVATE_NETWORKS): names of hosts, addresses and CIDR blocks
// of both families. A name allows whatever it resolves to; a block allows its addresses under any name.
import { embeddedV4, type IpAddress, type IpBlock, isWithin, parseAddress, parseBlock } from "./IpAddress.ts"

/** Hosts and blocks that may be called though they are private. */
export interface AllowedPrivate {
  readonly names: ReadonlySet<string>
  readonly blocks: ReadonlyArray<IpBlock>
}

/** What is no address and no block is the name of a host. */
export const readAllowed = (entries: ReadonlyArray<string>): AllowedPrivate => {
  const blocks: Array<IpBlock> = []
  const names = new Set<string>()
  for (const entry of entries) {
    const block = parseBlock(entry)
    if (block === undefined) names.add(entry.trim().toLowerCase().replace(/\.$/, ""))
    else blocks.push(block)
  }
  return { names, blocks }
}

/** Whether a block holds the address, as it is written or as the IPv4 address it maps. */
export const allowsAddress = ({ blocks }: AllowedPrivate, text: string): boolean => {
  const address = parseAddress(text)
  if (address === undefined) return false
  return blocks.some((block) => isWithin(address, block) || isWithin(unwrapped(address), block))
}

/** The IPv4 address that an IPv4-mapped one reaches. */
const unwrapped = (address: IpAddress): IpAddress =>
  address.family === 6 && address.value >> 32n === 0xffffn ? embeddedV4(address) : address
