// Participant tokens as the LiveKit clients carry them: a JWT signed with HS256 (RFC 7515, RFC 7518 3.2).
// Pure but for the clock, which is passed in. Whether a token may still be used is its issuer's business:
// this only says who signed it, for whom, and until when.
import { createHmac, timingSafeEqual } from "node:crypto"

export interface VideoGrant {
  readonly room?: string
  readonly roomJoin?: boolean
  readonly canPublish?: boolean
  readonly canSubscribe?: boolean
  readonly canPublishData?: boolean
}

/** Times are seconds since 1970. */
export interface TokenClaims {
  /** The API key whose secret signed it. */
  readonly iss: string
  /** The participant's identity. */
  readonly sub: string
  readonly exp: number
  readonly nbf?: number
  readonly jti?: string
  readonly name?: string
  readonly metadata?: string
  readonly attributes?: Readonly<Record<string, string>>
  readonly video?: VideoGrant
}

export type TokenFault = "malformed" | "badSignature" | "expired" | "notYetValid"

export type TokenVerdict =
  | { readonly _tag: "Valid"; readonly claims: TokenClaims }
  | { readonly _tag: "Invalid"; readonly fault: TokenFault }

const header = Buffer.from(JSON.stringify({ alg: "HS256", typ: "JWT" })).toString("base64url")
/** Clocks of two machines differ; the usual allowance. */
const skewSeconds = 10
const maxTokenChars = 8192

export const signToken = (claims: TokenClaims, secret: string): string => {
  const body = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`
  return `${body}.${signature(body, secret).toString("base64url")}`
}

/** Any string is answered with a verdict; nothing throws. */
export const verifyToken = (token: string, secret: string, nowMs: number): TokenVerdict => {
  const parts = token.length <= maxTokenChars ? token.split(".") : []
  const [head, body, mac] = parts
  if (parts.length !== 3 || head === undefined || body === undefined || mac === undefined) return invalid("malformed")
  const stated = record(head)
  const claims = record(body)
  if (stated?.["alg"] !== "HS256" || claims === undefined) return invalid("malformed")
  const expected = signature(`${head}.${body}`, secret)
  const given = Buffer.from(mac, "base64url")
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return invalid("badSignature")
  if (!isClaims(claims)) return invalid("malformed")
  const now = nowMs / 1000
  if (claims.exp + skewSeconds < now) return invalid("expired")
  if (claims.nbf !== undefined && claims.nbf - skewSeconds > now) return invalid("notYetValid")
  return { _tag: "Valid", claims }
}

const invalid = (fault: TokenFault): TokenVerdict => ({ _tag: "Invalid", fault })

const signature = (body: string, secret: string): Buffer => createHmac("sha256", secret).update(body).digest()

const record = (part: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"))
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

const isClaims = (claims: object): claims is TokenClaims => {
  const { exp, iss, nbf, sub } = claims as Record<string, unknown>
  return (
    typeof iss === "string" &&
    typeof sub === "string" &&
    sub !== "" &&
    typeof exp === "number" &&
    (nbf === undefined || typeof nbf === "number")
  )
}
