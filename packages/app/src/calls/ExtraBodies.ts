// `llm_extra_body` of sessions not yet joined. It is not stored (decisions 7): it waits in memory, as long as the
// session may be joined, and a restart forgets it.
import { Context, Layer } from "effect"
import { joinSeconds } from "@parley/workspace/sessions/Sessions"

type Body = Readonly<Record<string, unknown>>

export class ExtraBodies extends Context.Service<
  ExtraBodies,
  {
    readonly keep: (sessionId: string, body: Body) => void
    readonly take: (sessionId: string) => Body | undefined
  }
>()("@parley/app/ExtraBodies") {
  static readonly layer: Layer.Layer<ExtraBodies> = Layer.sync(ExtraBodies, () => {
    const waiting = new Map<string, { readonly body: Body; readonly until: number }>()
    return {
      keep: (sessionId, body) => {
        // In order of age, so the old ones are in front.
        for (const [id, { until }] of waiting) {
          if (until > Date.now()) break
          waiting.delete(id)
        }
        waiting.set(sessionId, { body, until: Date.now() + joinSeconds * 1000 })
      },
      take: (sessionId) => {
        const kept = waiting.get(sessionId)
        waiting.delete(sessionId)
        return kept?.body
      }
    }
  })
}
