// An address a customer wrote, validated before anyone is asked about it: its scheme, its credentials, its host. The
// URL parser (WHATWG) has turned octal, hexadecimal, short and full-width forms into plain ones by then. A name that
// only resolves to a private address is the business of `Dial`.
import type { UrlRules } from "@parley/contract/AgentConfig/patchConfig"
import { type AllowedPrivate, allowsAddress } from "./AllowedPrivate.ts"
import { parseAddress } from "./IpAddress.ts"
import { kindOf } from "./PublicAddress.ts"

/** What is wrong with the address, or undefined. */
export const urlFault = (value: string, rules: UrlRules, allowed: AllowedPrivate): string | undefined => {
  const url = parseUrl(value)
  if (url === undefined) return "must be a URL"
  const host = hostOf(url)
  const exempt = isExempt(host, allowed)
  if (!rules.schemes.includes(url.protocol) && !(exempt && url.protocol === "http:")) {
    return `must start with ${rules.schemes.map((scheme) => `${scheme}//`).join(" or ")}`
  }
  if (url.username !== "" || url.password !== "") return "must not contain credentials"
  if (!rules.queryAllowed && (url.search !== "" || url.hash !== "")) return "must not have a query or fragment"
  return exempt || mayBePublic(host) ? undefined : "must be a public address"
}

/** For webhooks and tools: any HTTP address, with a query if wanted. */
export const webhookRules: UrlRules = { schemes: ["https:", "http:"], queryAllowed: true }

/** Undefined for what is no URL. */
export const parseUrl = (value: string): URL | undefined => {
  try {
    return new URL(value)
  } catch {
    return undefined
  }
}

/** Scheme, host and port are the same: what a credential is bound to. */
export const sameOrigin = (a: string, b: string): boolean => parseUrl(a)?.origin === parseUrl(b)?.origin

/** Without the final dot of a full name; IPv6 in brackets. */
export const hostOf = (url: URL): string => url.hostname.toLowerCase().replace(/\.$/, "")

/** Literal addresses finally; names as far as a name tells. */
export const mayBePublic = (host: string): boolean =>
  parseAddress(host) === undefined ? isPublicName(host) : kindOf(host) === "public"

/** A local name may be allowed by the block its address lies in, which is seen when it is resolved. */
const isExempt = (host: string, allowed: AllowedPrivate): boolean => {
  if (allowed.names.has(host) || allowsAddress(allowed, host)) return true
  return parseAddress(host) === undefined && !host.startsWith("[") && !isPublicName(host) && isName(host)
    ? allowed.blocks.length > 0 && !metadataNames.test(host)
    : false
}

const localNames = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa|localdomain)$/
const metadataNames = /(^|\.)metadata(\.|$)/

const isPublicName = (host: string): boolean => isName(host) && host.includes(".") && !localNames.test(host)

/** Labels of a host name (RFC 1123); underscores and outer hyphens are met in the wild. */
const isName = (host: string): boolean =>
  host.length <= 253 && host.split(".").every((label) => /^[a-z0-9_-]{1,63}$/.test(label))
