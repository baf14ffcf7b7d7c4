// How much a workspace does at the same time: one count for all its keys and all three APIs (decisions 14).
import { TooManyRequests } from "@parley/contract/Errors"
import { Context, Effect, Layer, type Scope } from "effect"

export class SpeechPermits extends Context.Service<
  SpeechPermits,
  {
    /** A seat until the scope closes. Fails when `limit` are taken. */
    readonly take: (workspaceId: string, limit: number) => Effect.Effect<void, TooManyRequests, Scope.Scope>
  }
>()("@parley/app/SpeechPermits") {
  static readonly layer: Layer.Layer<SpeechPermits> = Layer.sync(SpeechPermits, () => {
    const taken = new Map<string, number>()
    const leave = (workspaceId: string) =>
      Effect.sync(() => {
        const left = (taken.get(workspaceId) ?? 1) - 1
        if (left === 0) taken.delete(workspaceId)
        else taken.set(workspaceId, left)
      })
    const sit = (workspaceId: string, limit: number) =>
      Effect.suspend(() => {
        const now = taken.get(workspaceId) ?? 0
        if (now >= limit) return Effect.fail(new TooManyRequests({ message: tooMany(limit), max_concurrency: limit }))
        taken.set(workspaceId, now + 1)
        return Effect.void
      })
    return {
      take: (workspaceId, limit) => Effect.acquireRelease(sit(workspaceId, limit), () => leave(workspaceId))
    }
  })
}

const tooMany = (limit: number): string => `At most ${limit} speech requests at the same time for this account`
