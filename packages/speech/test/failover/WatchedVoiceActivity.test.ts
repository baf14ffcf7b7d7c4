import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { Candidate, healthOf } from "../../src/failover/ProviderHealth.ts"
import { watchedVoiceActivity } from "../../src/failover/WatchedVoiceActivity.ts"
import { SpeechError } from "../../src/ports/SpeechError.ts"
import type { VoiceActivity } from "../../src/ports/VoiceActivity.ts"
import { makeScriptedVoiceActivity } from "../../src/testing/ScriptedVoiceActivity.ts"
import { voiceActivityCases } from "../cases/voiceActivityCases.ts"
import { loudSentence } from "../cases/loudSentence.ts"

const watched = (adapter: VoiceActivity) => {
  const candidate = new Candidate("scripted", "Scripted", adapter)
  return { candidate, activity: watchedVoiceActivity(adapter, candidate) }
}

voiceActivityCases(
  "watched",
  Effect.sync(() => watched(makeScriptedVoiceActivity({ delayMs: 2 })).activity),
  loudSentence
)

describe("WatchedVoiceActivity", () => {
  it.effect("notes each failed open in the health, passes it on, and forgets it with the next that succeeds", () =>
    Effect.gen(function* () {
      const scripted = makeScriptedVoiceActivity()
      const error = new SpeechError({ reason: "Timeout", provider: "scripted", message: "" })
      let isDown = true
      const { activity, candidate } = watched({
        provider: "scripted",
        open: (onWindow) => (isDown ? Effect.fail(error) : scripted.open(onWindow))
      })
      expect(yield* Effect.flip(activity.open(() => {}))).toBe(error)
      expect(yield* healthOf([candidate])).toMatchObject([{ healthy: false, lastError: "Timeout" }])
      isDown = false
      yield* activity.open(() => {})
      const [health] = yield* healthOf([candidate])
      expect(health).toMatchObject({ healthy: true })
      expect(health).not.toHaveProperty("lastError")
    }).pipe(Effect.scoped)
  )
})
