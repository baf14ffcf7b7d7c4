// How many speech requests a workspace has at the same time: one count for all its keys and all three APIs.
import { TooManyRequests } from "@parley/contract/Errors"
import { Context, Effect, Layer, type Scope } from "effect"

/** Permits for speech requests, by workspace. */
export class SpeechPermits extends Context.Service<
  SpeechPermits,
  {
    /** Takes one until the scope closes. Fails with 429, which names the limit, when `limit` are taken. */
    readonly take: (workspaceId: string, limit: number) => Effect.Effect<void, TooManyRequests, Scope.Scope>
  }
>()("@parley/app/SpeechPermits") {
  static readonly layer: Layer.Layer<SpeechPermits> = Layer.sync(SpeechPermits, () => {
    const taken = new Map<string, number>()
    const release = (workspaceId: string) =>
      Effect.sync(() => {
        const left = (taken.get(workspaceId) ?? 1) - 1
        if (left === 0) taken.delete(workspaceId)
        else taken.set(workspaceId, left)
      })
    const acquire = (workspaceId: string, limit: number) =>
      Effect.suspend(() => {
        const now = taken.get(workspaceId) ?? 0
        if (now >= limit) return Effect.fail(new TooManyRequests({ message: tooMany(limit), max_concurrency: limit }))
        taken.set(workspaceId, now + 1)
        return Effect.void
      })
    return {
      take: (workspaceId, limit) => Effect.acquireRelease(acquire(workspaceId, limit), () => release(workspaceId))
    }
  })
}

const tooMany = (limit: number): string => `At most ${limit} speech requests at the same time for this account`
