// IP addresses as numbers: text in, family and value out. Parsed by Effect's `net` module, which is strict: what the
// socket layer would read in another way (zone ids, leading zeros, short forms) is no address here (RFC 4291 section
// 2.2, RFC 6943 section 3.1.1). Matching is ours, one shift of an integer: Effect's `IpNetwork` allows no host bits in
// a block, which self-hosters write, and the addresses embedded in IPv6 are taken from the value as well.
import { Result } from "effect"
import { IpInterface, NetAddress } from "effect/net"

/** An address of either family. */
export interface IpAddress {
  readonly family: 4 | 6
  /** 32 or 128 bits. */
  readonly value: bigint
}

/** A prefix and its length: `10.0.0.0/8`, `fc00::/7`; a single address is a block of one. */
export interface IpBlock {
  readonly base: IpAddress
  /** Of the prefix: 0 to 32 or 128. */
  readonly bits: number
}

/** IPv6 with or without the brackets of a URL. Undefined for what is no address. */
export const parseAddress = (text: string): IpAddress | undefined => {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text
  const parsed = NetAddress.ipFromString(bare)
  return Result.isSuccess(parsed) ? numbered(parsed.success) : undefined
}

/** An address, or an address and a length; bits below the prefix do not count. */
export const parseBlock = (text: string): IpBlock | undefined => {
  const written = text.trim()
  if (!written.includes("/")) {
    const base = parseAddress(written)
    return base && { base, bits: base.family === 4 ? 32 : 128 }
  }
  const parsed = IpInterface.fromString(written.replace(/^\[(.*)\]/, "$1"))
  return Result.isSuccess(parsed)
    ? { base: numbered(parsed.success.address), bits: parsed.success.prefixLength }
    : undefined
}

/** Whether the block holds the address; never for another family. */
export const isWithin = (address: IpAddress, { base, bits }: IpBlock): boolean => {
  if (address.family !== base.family) return false
  const shift = BigInt((base.family === 4 ? 32 : 128) - bits)
  return address.value >> shift === base.value >> shift
}

/** The IPv4 address in the last 32 bits. */
export const embeddedV4 = (address: IpAddress): IpAddress => ({ family: 4, value: address.value & 0xffff_ffffn })

const numbered = (address: NetAddress.IpAddress): IpAddress => {
  const v4 = NetAddress.isIpv4Address(address)
  const octets = v4 ? NetAddress.ipv4ToOctets(address) : NetAddress.ipv6ToOctets(address)
  return { family: v4 ? 4 : 6, value: octets.reduce((value, octet) => (value << 8n) | BigInt(octet), 0n) }
}
