// Recognition of recordings on a balance of three seconds of audio (0.0001 units each).
import { assert, layer } from "@effect/vitest"
import { Recognition } from "@parley/speech/Recognition"
import { Billing } from "@parley/workspace/billing/Billing"
import { Workspaces } from "@parley/workspace/identity/Workspaces"
import { Platform } from "@parley/workspace/Platform"
import * as TestDatabase from "@parley/workspace/testing/TestDatabase"
import { Deferred, Effect, Layer } from "effect"
import { RecognitionRequests } from "../../src/speech/RecognitionRequests.ts"
import { SpeechPermits } from "../../src/speech/SpeechPermits.ts"

const platform = Layer.succeed(Platform, {
  voices: new Set<string>(),
  asrModels: ["vendor:transcribe-1"],
  llmModels: ["default"],
  allowedPrivate: [],
  cloning: false,
  trialBalance: 300_000n
})

const stopped = Deferred.makeUnsafe<void>()

/** Reads a second of the recording every 10 ms, an hour in all. */
const slow = Layer.succeed(Recognition, {
  recognise: ({ read }) =>
    Effect.gen(function* () {
      for (let second = 1; second <= 3_600; second++) {
        read?.(second * 1000)
        yield* Effect.sleep("10 millis")
      }
      return { text: "all of it", durationMs: 3_600_000, words: [], language: undefined }
    }).pipe(Effect.onInterrupt(() => Deferred.succeed(stopped, undefined)))
})

const live = RecognitionRequests.layer.pipe(
  Layer.provide(Layer.merge(slow, SpeechPermits.layer)),
  Layer.provideMerge(Layer.merge(Billing.layer.pipe(Layer.provide(platform)), Workspaces.layer)),
  Layer.provideMerge(TestDatabase.layer)
)

layer(live, { excludeTestServices: true })("recognition requests", (it) => {
  it.effect("stop when the balance is spent, and what was read until then is charged", () =>
    Effect.gen(function* () {
      const ws = yield* (yield* Workspaces).ensure("listener")
      const { recognise } = yield* RecognitionRequests
      const refused = yield* Effect.flip(recognise({ workspaceId: ws, file: "none", language: "" }))
      assert.deepInclude(refused, { status: 402 })
      yield* Deferred.await(stopped)
      const { balance } = yield* (yield* Billing).account(ws)
      assert.isTrue(balance <= 0n && balance >= -200_000n, String(balance))
    })
  )
})
