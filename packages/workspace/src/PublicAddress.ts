// Which hosts the service may be told to call: no loopback, private, link-local, multicast or metadata address
// (spec: Tools 5). Judges literal addresses and names that are always local; a name that resolves to such an
// address is the business of whoever connects. `allowed` is the self-hoster's explicit list of exceptions.
import type { UrlRules } from "@parley/contract/AgentConfig/patchConfig"

/** What is wrong with the address, or undefined. `allowed`: names, or CIDR blocks of IPv4, that may be private. */
export const urlFault = (value: string, rules: UrlRules, allowed: ReadonlyArray<string>): string | undefined => {
  let url: URL
  try {
    url = new URL(value)
  } catch {
    return "must be a URL"
  }
  const host = url.hostname.toLowerCase().replace(/\.$/, "")
  const exempt = isAllowed(host, allowed)
  if (!rules.schemes.includes(url.protocol) && !(exempt && url.protocol === "http:")) {
    return `must start with ${rules.schemes.map((scheme) => `${scheme}//`).join(" or ")}`
  }
  if (url.username !== "" || url.password !== "") return "must not contain credentials"
  if (!rules.queryAllowed && (url.search !== "" || url.hash !== "")) return "must not have a query or fragment"
  return exempt || isPublicHost(host) ? undefined : "must be a public address"
}

export const isPublicHost = (host: string): boolean => {
  if (host.startsWith("[")) return isPublicV6(host.slice(1, -1))
  const v4 = parseV4(host)
  if (v4 !== undefined) return isPublicV4(v4)
  return host.includes(".") && !/(^|\.)(localhost|local|internal|intranet|lan|home\.arpa|localdomain)$/.test(host)
}

const isAllowed = (host: string, allowed: ReadonlyArray<string>): boolean => {
  const address = parseV4(host)
  return allowed.some((entry) => {
    if (entry.toLowerCase() === host) return true
    const [base, bits] = entry.split("/")
    const network = parseV4(base ?? "")
    if (address === undefined || network === undefined) return false
    const shift = 32 - Number(bits ?? 32)
    return Math.floor(address / 2 ** shift) === Math.floor(network / 2 ** shift)
  })
}

/** The URL parser has already turned octal, hex and short forms into four decimal parts. */
const parseV4 = (host: string): number | undefined => {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(host)
  if (parts === null) return undefined
  return parts.slice(1).reduce((sum, part) => sum * 256 + Number(part), 0)
}

/** IANA special-purpose registry, RFC 6890. */
const privateV4: ReadonlyArray<readonly [base: string, bits: number]> = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3]
]

const isPublicV4 = (address: number): boolean =>
  !privateV4.some(([base, bits]) => {
    const size = 2 ** (32 - bits)
    return Math.floor(address / size) === Math.floor((parseV4(base) ?? 0) / size)
  })

/** Global unicast 2000::/3 only, without the blocks that embed an IPv4 address or are reserved. */
const isPublicV6 = (address: string): boolean =>
  /^[23]/.test(address) && address.indexOf(":") === 4 && !/^(2002|2001:(0{0,4}:|db8:|:))/.test(address)
