// The right to hear one recorded track for a quarter of an hour, as the name of a file; whoever has the name may fetch the
// sound.
import { Forbidden } from "@parley/contract/Errors"
import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { Secrets } from "../storage/Secrets.ts"
import { signLink, verifyLink } from "./linkToken.ts"

/** The name of a file, and until when it may be fetched. */
export interface RecordingLink {
  readonly file: string
  readonly expiresAt: Date
}

/** Signed names of recorded tracks. */
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
