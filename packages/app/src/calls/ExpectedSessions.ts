// What waits in memory for sessions that nobody has joined yet, as long as they may be joined.
import { joinSeconds } from "@parley/workspace/sessions/Sessions"
import type { ExtraBody } from "../plan/callPlan.ts"

export class ExpectedSessions {
  readonly #waiting = new Map<string, { readonly body: ExtraBody; readonly until: number }>()

  keep(sessionId: string, body: ExtraBody): void {
    // In order of age, so the old ones are in front.
    for (const [id, { until }] of this.#waiting) {
      if (until > Date.now()) break
      this.#waiting.delete(id)
    }
    this.#waiting.set(sessionId, { body, until: Date.now() + joinSeconds * 1000 })
  }

  take(sessionId: string): ExtraBody | undefined {
    const kept = this.#waiting.get(sessionId)
    this.#waiting.delete(sessionId)
    return kept?.body
  }
}
