// Which addresses the service may connect or send to because somebody else said so: the public ones, and the
// self-hoster's exceptions. One rule for HTTP and for the telephone.
import { type AllowedPrivate, allowsAddress } from "./AllowedPrivate.ts"
import { parseAddress } from "./IpAddress.ts"
import { kindOf } from "./PublicAddress.ts"

/** @param name The host it was found under, lower case: an allowed name allows whatever it resolves to. */
export const isReachable = (allowed: AllowedPrivate, address: string, name?: string): boolean =>
  kindOf(address) === "public" ||
  allowsAddress(allowed, address) ||
  (name !== undefined && allowed.names.has(name) && parseAddress(address) !== undefined)
