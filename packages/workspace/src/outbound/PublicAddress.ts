// Which addresses the service may be told to call: those of the public internet, and nothing else.
// After the IANA special-purpose registries (RFC 6890 and its updates). Forms that carry an IPv4 address and reach it
// are judged by that address; forms whose way nobody can tell are refused.
import { embeddedV4, type IpAddress, type IpBlock, isWithin, parseAddress, parseBlock } from "./IpAddress.ts"

/** What an address is for; only `public` ones are called. */
export type AddressKind =
  | "public"
  | "unspecified"
  | "loopback"
  | "private"
  | "shared"
  | "link-local"
  | "metadata"
  | "documentation"
  | "multicast"
  | "translated"
  | "reserved"

/** What an address is; `reserved` for text that is no address. */
export const kindOf = (text: string): AddressKind => {
  const address = parseAddress(text)
  return address === undefined ? "reserved" : kindOfAddress(address)
}

const kindOfAddress = (address: IpAddress): AddressKind => {
  if (address.family === 4) return firstKind(address, special4) ?? "public"
  if (isWithin(address, mapped) || isWithin(address, nat64)) return kindOfAddress(embeddedV4(address))
  const special = firstKind(address, special6)
  if (special !== undefined) return special
  if (!isWithin(address, globalUnicast)) return "reserved"
  // ISATAP (RFC 5214): the interface's half names an IPv4 address behind a tunnel.
  const marker = (address.value >> 32n) & 0xffff_ffffn
  return (marker === 0x5efen || marker === 0x0200_5efen) && kindOfAddress(embeddedV4(address)) !== "public"
    ? "translated"
    : "public"
}

const firstKind = (address: IpAddress, table: ReadonlyArray<readonly [IpBlock, AddressKind]>) =>
  table.find(([block]) => isWithin(address, block))?.[1]

const block = (text: string): IpBlock => {
  const parsed = parseBlock(text)
  if (parsed === undefined) throw new RangeError(`${text} is no block of addresses`)
  return parsed
}

const mapped = block("::ffff:0:0/96")
const nat64 = block("64:ff9b::/96")
const globalUnicast = block("2000::/3")

const tableOf = (rows: ReadonlyArray<readonly [string, AddressKind]>) =>
  rows.map(([text, kind]) => [block(text), kind] as const)

/** The first that holds the address counts. */
const special4 = tableOf([
  ["0.0.0.0/8", "unspecified"],
  ["10.0.0.0/8", "private"],
  ["100.100.100.200", "metadata"],
  ["100.64.0.0/10", "shared"],
  ["127.0.0.0/8", "loopback"],
  ["168.63.129.16", "metadata"],
  ["169.254.169.254", "metadata"],
  ["169.254.0.0/16", "link-local"],
  ["172.16.0.0/12", "private"],
  ["192.0.0.192", "metadata"],
  ["192.0.0.0/24", "reserved"],
  ["192.0.2.0/24", "documentation"],
  ["192.88.99.0/24", "translated"],
  ["192.168.0.0/16", "private"],
  ["198.18.0.0/15", "reserved"],
  ["198.51.100.0/24", "documentation"],
  ["203.0.113.0/24", "documentation"],
  ["224.0.0.0/4", "multicast"],
  ["240.0.0.0/4", "reserved"]
])

const special6 = tableOf([
  ["::", "unspecified"],
  ["::1", "loopback"],
  // IPv4-compatible, deprecated.
  ["::/96", "translated"],
  // IPv4-translated (RFC 2765).
  ["::ffff:0:0:0/96", "translated"],
  // Translation of a network's own (RFC 8215).
  ["64:ff9b:1::/48", "translated"],
  ["100::/64", "reserved"],
  // Teredo (RFC 4380) and the other assignments to protocols.
  ["2001::/32", "translated"],
  ["2001::/23", "reserved"],
  ["2001:db8::/32", "documentation"],
  // 6to4 (RFC 3056).
  ["2002::/16", "translated"],
  ["3fff::/20", "documentation"],
  ["fd00:ec2::254", "metadata"],
  ["fc00::/7", "private"],
  ["fe80::/10", "link-local"],
  // Site-local, deprecated.
  ["fec0::/10", "private"],
  ["ff00::/8", "multicast"]
])
