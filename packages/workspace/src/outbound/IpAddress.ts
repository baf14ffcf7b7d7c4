// IP addresses as numbers: text in, family and value out. Strict: what the socket layer would read in another way
// (zone ids, leading zeros, short forms) is no address here. RFC 4291 section 2.2, RFC 6943 section 3.1.1.

export interface IpAddress {
  readonly family: 4 | 6
  /** 32 or 128 bits. */
  readonly value: bigint
}

/** A prefix and its length: `10.0.0.0/8`, `fc00::/7`; a single address is a block of one. */
export interface IpBlock {
  readonly base: IpAddress
  readonly bits: number
}

/** IPv6 with or without the brackets of a URL. */
export const parseAddress = (text: string): IpAddress | undefined => {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text
  const value = bare.includes(":") ? valueOfV6(bare) : valueOfV4(bare)
  return value === undefined ? undefined : { family: bare.includes(":") ? 6 : 4, value }
}

export const parseBlock = (text: string): IpBlock | undefined => {
  const [address = "", length, ...rest] = text.trim().split("/")
  const base = parseAddress(address)
  if (base === undefined || rest.length > 0) return undefined
  const most = base.family === 4 ? 32 : 128
  if (length === undefined) return { base, bits: most }
  return /^\d{1,3}$/.test(length) && Number(length) <= most ? { base, bits: Number(length) } : undefined
}

export const isWithin = (address: IpAddress, { base, bits }: IpBlock): boolean => {
  if (address.family !== base.family) return false
  const shift = BigInt((base.family === 4 ? 32 : 128) - bits)
  return address.value >> shift === base.value >> shift
}

/** The IPv4 address in the last 32 bits above `skip` lower ones. */
export const embeddedV4 = (address: IpAddress, skip = 0n): IpAddress => ({
  family: 4,
  value: (address.value >> skip) & 0xffff_ffffn
})

const valueOfV4 = (text: string): bigint | undefined => {
  const parts = /^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})$/.exec(text)
  if (parts === null) return undefined
  const bytes = parts.slice(1).map(Number)
  return bytes.every((byte) => byte < 256) ? bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n) : undefined
}

const valueOfV6 = (text: string): bigint | undefined => {
  const tail = /^(.*:)(\d[\d.]*\.\d+)$/.exec(text)
  const v4 = tail?.[2] === undefined ? undefined : valueOfV4(tail[2])
  if (tail !== null && v4 === undefined) return undefined
  const whole = v4 === undefined ? text : `${tail?.[1]}${(v4 >> 16n).toString(16)}:${(v4 & 0xffffn).toString(16)}`
  const [head, rest, ...more] = whole.split("::")
  if (head === undefined || more.length > 0) return undefined
  const before = head === "" ? [] : head.split(":")
  const after = rest === undefined || rest === "" ? [] : rest.split(":")
  const missing = 8 - before.length - after.length
  if (rest === undefined ? missing !== 0 : missing < 1) return undefined
  const groups = [...before, ...Array.from({ length: missing }, () => "0"), ...after]
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined
  return groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
}
