// Proof that a recording is a candidate this installation designed for this workspace (decisions 4): HMAC-SHA256 over
// the SHA-256 of its bytes, the candidate, the workspace and the time it ends. Opaque to callers:
// base64url of version, end (seconds), mac, candidate.
import { BadRequest } from "@parley/contract/Errors"
import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import { createReadStream } from "node:fs"
import { pipeline } from "node:stream/promises"
import { Secrets } from "../storage/Secrets.ts"

export interface DesignedClip {
  readonly workspaceId: string
  readonly candidateId: string
  /** The very bytes that were given out. */
  readonly audio: Uint8Array
}

export class DesignSignatures extends Context.Service<
  DesignSignatures,
  {
    readonly sign: (clip: DesignedClip) => Effect.Effect<string>
    /** Fails for a clip that was changed, designed for another workspace, or more than a day ago. */
    readonly verify: (signature: string, workspaceId: string, file: string) => Effect.Effect<void, BadRequest>
  }
>()("@parley/workspace/DesignSignatures") {
  static readonly layer: Layer.Layer<DesignSignatures, never, Secrets> = Layer.effect(
    DesignSignatures,
    Effect.map(Secrets, (secrets) => {
      const key = Redacted.value(secrets.derive("voice-design"))
      return {
        sign: ({ audio, candidateId, workspaceId }) =>
          Effect.map(Clock.currentTimeMillis, (nowMs) =>
            signDesign(key, { workspaceId, candidateId, digest: sha256(audio), endsMs: nowMs + validMs })
          ),
        verify: Effect.fnUntraced(function* (signature, workspaceId, file) {
          const digest = yield* Effect.promise(() => sha256OfFile(file))
          const nowMs = yield* Clock.currentTimeMillis
          if (verifyDesign(key, signature, { workspaceId, digest, nowMs })) return
          return yield* new BadRequest({
            message: "Invalid voice-design signature",
            reason: "invalid_voice_design_signature"
          })
        })
      }
    })
  )
}

const validMs = 24 * 60 * 60 * 1000
const version = 1
/** Version, end, mac. */
const headBytes = 1 + 4 + 32

export interface Design {
  readonly workspaceId: string
  readonly candidateId: string
  /** SHA-256 of the clip. */
  readonly digest: Uint8Array
  readonly endsMs: number
}

export const signDesign = (key: Uint8Array, design: Design): string => {
  const head = Buffer.alloc(headBytes)
  head.writeUInt8(version)
  const ends = Math.floor(design.endsMs / 1000)
  head.writeUInt32BE(ends, 1)
  mac(key, design.workspaceId, design.candidateId, design.digest, ends).copy(head, 5)
  return Buffer.concat([head, Buffer.from(design.candidateId, "utf8")]).toString("base64url")
}

export const verifyDesign = (
  key: Uint8Array,
  signature: string,
  claim: { readonly workspaceId: string; readonly digest: Uint8Array; readonly nowMs: number }
): boolean => {
  const bytes = Buffer.from(signature, "base64url")
  // One signature has one spelling.
  if (bytes.toString("base64url") !== signature) return false
  if (bytes.length <= headBytes || bytes.readUInt8() !== version) return false
  const ends = bytes.readUInt32BE(1)
  const candidate = bytes.subarray(headBytes).toString("utf8")
  const right = mac(key, claim.workspaceId, candidate, claim.digest, ends)
  return timingSafeEqual(right, bytes.subarray(5, headBytes)) && claim.nowMs < ends * 1000
}

/** JSON keeps the parts apart. */
const mac = (key: Uint8Array, workspaceId: string, candidateId: string, digest: Uint8Array, ends: number): Buffer =>
  createHmac("sha256", key)
    .update(JSON.stringify([version, workspaceId, candidateId, Buffer.from(digest).toString("hex"), ends]))
    .digest()

const sha256 = (bytes: Uint8Array): Uint8Array => createHash("sha256").update(bytes).digest()

const sha256OfFile = async (file: string): Promise<Uint8Array> => {
  const hash = createHash("sha256")
  await pipeline(createReadStream(file), hash)
  return hash.digest()
}
