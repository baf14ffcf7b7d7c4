// Join tokens: LiveKit-compatible access tokens (JWT, HS256, RFC 7519) that admit one person to one session. The
// room is the session. Signing says who may join and until when; that it happens once is said by the session's own
// state. The key is derived from the installation's master key.
import { Secrets } from "@parley/workspace/storage/Secrets"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { errors, jwtVerify, SignJWT } from "jose"
import { randomUUID, webcrypto } from "node:crypto"

/** `iss` of every token: the API key id in the media protocol's words. */
const issuer = "parley"

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
    readonly mint: (claims: JoinClaims) => Effect.Effect<string>
    /**
     * The claims of a token of ours, or undefined. `expired` tokens may still resume a session that their bearer
     * has joined; only the caller knows whether that is so.
     */
    readonly verify: (
      token: string,
      nowSeconds?: number
    ) => Effect.Effect<(JoinClaims & { readonly expired: boolean }) | undefined>
  }
>()("@parley/app/JoinTokens") {
  /** @param key at least 32 bytes. */
  static readonly make = (key: Uint8Array): JoinTokens["Service"] => make(key)

  static readonly layer: Layer.Layer<JoinTokens, never, Secrets> = Layer.effect(
    JoinTokens,
    Effect.map(Secrets, (secrets) => JoinTokens.make(Redacted.value(secrets.derive("join-token"))))
  )
}

const Payload = Schema.Struct({
  sub: Schema.String,
  exp: Schema.Number,
  nbf: Schema.Number,
  video: Schema.Struct({ room: Schema.String })
})
const payloadOf = Schema.decodeUnknownOption(Payload)

const make = (secret: Uint8Array): JoinTokens["Service"] => {
  // Once: bytes would be made a key again for every token.
  const hmac = { name: "HMAC", hash: "SHA-256" }
  const key = webcrypto.subtle.importKey("raw", Uint8Array.from(secret), hmac, false, ["sign", "verify"])
  return {
    mint: ({ expiresAt, identity, sessionId }) =>
      Effect.promise(async () =>
        new SignJWT({
          video: { room: sessionId, roomJoin: true, canPublish: true, canSubscribe: true, canPublishData: true }
        })
          .setProtectedHeader({ alg: "HS256", typ: "JWT" })
          .setIssuer(issuer)
          .setSubject(identity)
          .setNotBefore(Math.floor(Date.now() / 1000) - leewaySeconds)
          .setExpirationTime(expiresAt)
          .setJti(randomUUID())
          .sign(await key)
      ),

    verify: (token, nowSeconds = Date.now() / 1000) =>
      Effect.map(
        Effect.promise(async () => signed(token, await key, nowSeconds)),
        (found) => {
          const claims = found && payloadOf(found.payload)
          if (claims?._tag !== "Some") return undefined
          const { exp, sub, video } = claims.value
          return { sessionId: video.room, identity: sub, expiresAt: exp, expired: exp <= nowSeconds }
        }
      )
  }
}

/** The payload of a token that we signed and that holds now or did. The clock's leeway is for its beginning alone. */
const signed = async (token: string, key: webcrypto.CryptoKey, nowSeconds: number) => {
  const options = {
    issuer,
    algorithms: ["HS256"],
    currentDate: new Date(nowSeconds * 1000),
    clockTolerance: leewaySeconds
  }
  try {
    return await jwtVerify(token, key, options)
  } catch (error) {
    return error instanceof errors.JWTExpired ? { payload: error.payload } : undefined
  }
}
