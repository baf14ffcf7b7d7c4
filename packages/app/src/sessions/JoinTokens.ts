// Join tokens: LiveKit-compatible access tokens (JWT, HS256, RFC 7519) that admit one person to one session. The
// room is the session. Signing says who may join and until when; that it happens once is said by the session's own
// state. The key is derived from the installation's master key.
import { Context, Effect, Layer, Redacted } from "effect"
import { createHmac, randomUUID, timingSafeEqual } from "node:crypto"
import { Secrets } from "@parley/workspace/storage/Secrets"

/** `iss` of every token: the API key id in the media protocol's words. */
export const issuer = "parley"

/** Tolerated difference of clocks. */
const leewaySeconds = 10

export interface JoinClaims {
  readonly sessionId: string
  /** The participant's identity. */
  readonly identity: string
  /** Seconds since the epoch. */
  readonly expiresAt: number
}

export class JoinTokens extends Context.Service<
  JoinTokens,
  {
    readonly mint: (claims: JoinClaims) => string
    /**
     * The claims of a token of ours, or undefined. `expired` tokens may still resume a session that their bearer
     * has joined; only the caller knows whether that is so.
     */
    readonly verify: (token: string, nowSeconds?: number) => (JoinClaims & { readonly expired: boolean }) | undefined
  }
>()("@parley/app/JoinTokens") {
  static readonly layer: Layer.Layer<JoinTokens, never, Secrets> = Layer.effect(
    JoinTokens,
    Effect.map(Secrets, (secrets) => make(Redacted.value(secrets.derive("join-token"))))
  )
}

export const make = (key: Uint8Array): JoinTokens["Service"] => ({
  mint: ({ expiresAt, identity, sessionId }) => {
    const payload = {
      iss: issuer,
      sub: identity,
      nbf: Math.floor(Date.now() / 1000) - leewaySeconds,
      exp: expiresAt,
      jti: randomUUID(),
      video: { room: sessionId, roomJoin: true, canPublish: true, canSubscribe: true, canPublishData: true }
    }
    const signed = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(payload)}`
    return `${signed}.${sign(key, signed).toString("base64url")}`
  },

  verify: (token, nowSeconds = Date.now() / 1000) => {
    const [head, body, signature, ...rest] = token.split(".")
    if (head === undefined || body === undefined || signature === undefined || rest.length > 0) return undefined
    const given = Buffer.from(signature, "base64url")
    const wanted = sign(key, `${head}.${body}`)
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
    const claims = decode(body)
    // The algorithm is ours, not the header's; a header that names another is no token of ours.
    if (claims === undefined || decode(head)?.["alg"] !== "HS256" || claims["iss"] !== issuer) return undefined
    const { exp, nbf, sub, video } = claims
    if (typeof exp !== "number" || typeof nbf !== "number" || typeof sub !== "string") return undefined
    if (typeof video !== "object" || video === null || !("room" in video) || typeof video.room !== "string")
      return undefined
    if (nbf > nowSeconds + leewaySeconds) return undefined
    return { sessionId: video.room, identity: sub, expiresAt: exp, expired: exp <= nowSeconds }
  }
})

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url")

const decode = (part: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString())
    return typeof value === "object" && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

const sign = (key: Uint8Array, text: string): Buffer => createHmac("sha256", key).update(text).digest()
