// Voice activity has one provider and no second choice: its health is what its last `open` said.
import { Clock, Effect } from "effect"
import type { VoiceActivity } from "../ports/VoiceActivity.ts"
import { defaultCoolDownMs } from "./ProviderHealth.ts"
import type { Candidate } from "./ProviderHealth.ts"

/** `adapter`, with the outcome of each `open` noted in `candidate`. Fails as `adapter` does. */
export const watchedVoiceActivity = (adapter: VoiceActivity, candidate: Candidate<VoiceActivity>): VoiceActivity => ({
  provider: adapter.provider,
  open: (onWindow) =>
    adapter.open(onWindow).pipe(
      Effect.tap(() => Effect.sync(() => candidate.served())),
      Effect.tapError((error) =>
        Effect.map(Clock.currentTimeMillis, (nowMs) => candidate.failed(error, nowMs, defaultCoolDownMs))
      )
    )
})
