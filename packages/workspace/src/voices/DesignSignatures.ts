// Proof that a recording is a candidate this installation designed for this workspace in the last day.
import { BadRequest } from "@parley/contract/Errors"
import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { pipeline } from "node:stream/promises"
import { Secrets } from "../storage/Secrets.ts"
import { signDesign, verifyDesign } from "./designToken.ts"

/** A candidate that was given out. */
export interface DesignedClip {
  readonly workspaceId: string
  readonly candidateId: string
  /** The very bytes that were given out. */
  readonly audio: Uint8Array
}

/** Signatures of designed recordings. */
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
const sha256 = (bytes: Uint8Array): Uint8Array => createHash("sha256").update(bytes).digest()

const sha256OfFile = async (file: string): Promise<Uint8Array> => {
  const hash = createHash("sha256")
  await pipeline(createReadStream(file), hash)
  return hash.digest()
}
