// The right to hear one recorded track for a while, as the name of a file: base64url of version, end (seconds), mac and
// track. HMAC-SHA256 with a key only this installation knows; whoever has the name may fetch the sound.
import { Forbidden } from "@parley/contract/Errors"
import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"
import { Secrets } from "../storage/Secrets.ts"

export interface RecordingLink {
  readonly file: string
  readonly expiresAt: Date
}

export class RecordingLinks extends Context.Service<
  RecordingLinks,
  {
    readonly sign: (trackId: string) => Effect.Effect<RecordingLink>
    /** The track; fails for a name that was changed or is too old. */
    readonly verify: (file: string) => Effect.Effect<string, Forbidden>
  }
>()("@parley/workspace/RecordingLinks") {
  static readonly layer: Layer.Layer<RecordingLinks, never, Secrets> = Layer.effect(
    RecordingLinks,
    Effect.map(Secrets, (secrets) => {
      const key = Redacted.value(secrets.derive("recording-links"))
      return {
        sign: (trackId) =>
          Effect.map(Clock.currentTimeMillis, (nowMs) => {
            const endSeconds = Math.floor((nowMs + validMs) / 1000)
            return { file: signLink(key, trackId, endSeconds), expiresAt: new Date(endSeconds * 1000) }
          }),
        verify: Effect.fnUntraced(function* (file) {
          const trackId = verifyLink(key, file, yield* Clock.currentTimeMillis)
          return trackId ?? (yield* new Forbidden({ message: "The address of this recording is wrong or has expired" }))
        })
      }
    })
  )
}

const validMs = 15 * 60 * 1000
const version = 1
const extension = ".ogg"
/** Version, end, mac. */
const headBytes = 1 + 4 + 32

export const signLink = (key: Uint8Array, trackId: string, endSeconds: number): string => {
  const head = Buffer.alloc(headBytes)
  head.writeUInt8(version)
  head.writeUInt32BE(endSeconds, 1)
  head.set(mac(key, trackId, endSeconds), 5)
  return Buffer.concat([head, Buffer.from(trackId, "utf8")]).toString("base64url") + extension
}

/** The track's id, or undefined. */
export const verifyLink = (key: Uint8Array, file: string, nowMs: number): string | undefined => {
  if (!file.endsWith(extension)) return undefined
  const token = file.slice(0, -extension.length)
  const bytes = Buffer.from(token, "base64url")
  // One link has one spelling.
  if (bytes.toString("base64url") !== token || bytes.length <= headBytes || bytes[0] !== version) return undefined
  const endSeconds = bytes.readUInt32BE(1)
  const trackId = bytes.subarray(headBytes).toString("utf8")
  const right = timingSafeEqual(mac(key, trackId, endSeconds), bytes.subarray(5, headBytes))
  return right && nowMs < endSeconds * 1000 ? trackId : undefined
}

/** JSON keeps the parts apart. */
const mac = (key: Uint8Array, trackId: string, endSeconds: number): Buffer =>
  createHmac("sha256", key)
    .update(JSON.stringify([version, trackId, endSeconds]))
    .digest()
