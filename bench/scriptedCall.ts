// Scripted calls in real time: the real conversation and the real tick, engines that take exactly as
// long as they are told (ASR 150 ms after the voice, LLM 200, TTS 150), a caller whose every sample is
// known. Several calls at once, because that is how a server lives.
import { Deferred, Effect, Fiber, Layer, Scope } from "effect"
import type { EndReason } from "@parley/contract/EndReason"
import type { Fact } from "@parley/contract/Fact"
import * as Conversation from "@parley/engine/Conversation"
import { Pacer } from "@parley/engine/playout/Pacer"
import { CallParts, ToolFailure } from "@parley/engine/ports/CallParts"
import type { ConversationRules } from "@parley/engine/CallPlan"
import * as FakeLeg from "@parley/engine/testing/FakeLeg"
import { planOf } from "@parley/engine/testing/Rehearsal"
import { makeScriptedChatModel } from "@parley/llm/testing/ScriptedChatModel"
import { makeScriptedSynthesizer } from "@parley/speech/testing/ScriptedSynthesizer"
import { makeScriptedTranscriber } from "@parley/speech/testing/ScriptedTranscriber"
import { makeScriptedVoiceActivity } from "@parley/speech/testing/ScriptedVoiceActivity"

export const components = { asrMs: 150, llmMs: 200, ttsMs: 150 }

export interface ScriptedCall {
  readonly leg: FakeLeg.FakeLeg
  readonly facts: ReadonlyArray<Fact>
}

/** Engines and tick for any number of calls. */
export const layer = (answer: string) =>
  Layer.merge(
    Layer.sync(CallParts, () => ({
      synthesizer: makeScriptedSynthesizer({ firstAudioMs: components.ttsMs }),
      transcriber: makeScriptedTranscriber({
        utterances: Array.from({ length: 100_000 }, (_, i) => `please tell me about number ${i}`),
        finalMs: components.asrMs
      }),
      voiceActivity: makeScriptedVoiceActivity(),
      chat: () => makeScriptedChatModel([answer], { firstWordMs: components.llmMs }),
      runTool: () => Effect.fail(new ToolFailure({ message: "no tools" }))
    })),
    Pacer.layer
  )

export const open = Effect.fnUntraced(function* (sessionId: string, rules: Partial<ConversationRules> = {}) {
  const leg = yield* FakeLeg.make()
  const facts: Array<Fact> = []
  const plan = { ...planOf({ rules }), sessionId }
  const endAsked = yield* Deferred.make<EndReason>()
  const outliving = yield* Scope.make()
  const remember = (fact: Fact) => void facts.push(fact)
  const fiber = yield* Effect.forkDetach(Conversation.run({ plan, leg, remember, endAsked, outliving }))
  const call: ScriptedCall = { leg, facts }
  return Object.assign(call, {
    end: Effect.andThen(Deferred.succeed(endAsked, "agent_hangup"), Fiber.await(fiber)),
    over: Fiber.join(fiber)
  })
})
