// A whole call on a virtual clock: a scripted caller, scripted engines, the real conversation. The facts
// are what a test expects things of.
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import type { EndReason } from "@parley/contract/EndReason"
import type { Fact } from "@parley/contract/Fact"
import type { SessionItem } from "@parley/contract/SessionItem"
import type { TurnLatency } from "@parley/contract/TurnLatency"
import type { ChatModel } from "@parley/llm/ChatModel"
import { makeScriptedChatModel } from "@parley/llm/testing/ScriptedChatModel"
import type { Synthesizer } from "@parley/speech/ports/Synthesizer"
import type { Transcriber } from "@parley/speech/ports/Transcriber"
import type { VoiceActivity } from "@parley/speech/ports/VoiceActivity"
import { makeScriptedSynthesizer } from "@parley/speech/testing/ScriptedSynthesizer"
import { makeScriptedTranscriber } from "@parley/speech/testing/ScriptedTranscriber"
import { makeScriptedVoiceActivity } from "@parley/speech/testing/ScriptedVoiceActivity"
import { type CallPlan, type ConversationRules, defaultPlan, defaultRules, type PlannedTool } from "../CallPlan.ts"
import * as Conversation from "../Conversation.ts"
import type { Leg } from "../leg/Leg.ts"
import { Pacer } from "../playout/Pacer.ts"
import { CallParts, type Retrieve, type RunTool, ToolFailure } from "../ports/CallParts.ts"
import * as FakeLeg from "./FakeLeg.ts"
import * as VirtualPacer from "./VirtualPacer.ts"

/** What is particular to a rehearsed call; everything left out is plain and works. */
export interface RehearsalScript {
  /** What the recogniser makes of each utterance, in order. */
  readonly hears?: ReadonlyArray<string>
  readonly transcriber?: Transcriber | undefined
  readonly voiceActivity?: VoiceActivity
  /** What the conversation holds in place of the plain leg. */
  readonly leg?: (leg: FakeLeg.FakeLeg) => Leg
  readonly chat?: ChatModel
  readonly synthesizer?: Synthesizer
  readonly rules?: Partial<ConversationRules>
  readonly firstMessage?: CallPlan["prompt"]["firstMessage"]
  readonly tools?: ReadonlyArray<PlannedTool>
  readonly runTool?: RunTool
  readonly openTools?: CallParts["Service"]["openTools"]
  readonly knowledge?: CallPlan["knowledge"]
  readonly retrieve?: Retrieve
  readonly phone?: CallPlan["phone"]
  /** A telephone whose carrier does this with a REFER. */
  readonly telephone?: "transferred" | "refused"
  readonly dial?: CallParts["Service"]["dial"]
  readonly referRefusal?: CallParts["Service"]["referRefusal"]
  readonly hangUpTool?: boolean
  readonly toolEvents?: boolean
}

/** A call under way, and what has come of it so far. */
export interface Rehearsal {
  readonly leg: FakeLeg.FakeLeg
  readonly caller: FakeLeg.FakeLeg["caller"]
  readonly facts: ReadonlyArray<Fact>
  readonly items: () => ReadonlyArray<SessionItem>
  /** "user: ..." and "assistant: ..." lines as the record has them. */
  readonly transcript: () => ReadonlyArray<string>
  readonly latencies: () => ReadonlyArray<TurnLatency>
  readonly moves: () => ReadonlyArray<string>
  readonly state: () => string
  readonly endAsked: (reason: EndReason) => void
  /** Undefined while the call lives. */
  readonly ended: () => EndReason | undefined
  /** The service stops in the middle of the call. */
  readonly interrupt: Effect.Effect<void>
}

/** The plan of such a call. */
export const planOf = (script: RehearsalScript): CallPlan => {
  const plan = defaultPlan("ses_rehearsal", "You are helpful.")
  return {
    ...plan,
    prompt: { ...plan.prompt, firstMessage: script.firstMessage ?? { mode: "off" } },
    conversation: { ...defaultRules, ...script.rules },
    tools: script.tools ?? [],
    knowledge: script.knowledge,
    phone: script.phone,
    hangUpTool: script.hangUpTool ?? false,
    toolEvents: script.toolEvents ?? true
  }
}

/**
 * Starts the call and returns what drives it; the call is cut off when the scope closes. Ticks with the `Pacer` of the
 * context where there is one, else on the Effect Clock by itself.
 */
export const rehearse = Effect.fnUntraced(function* (script: RehearsalScript = {}) {
  const leg = yield* FakeLeg.make(script.telephone === undefined ? 24_000 : 8_000, script.telephone)
  const facts: Array<Fact> = []
  const endAsked = yield* Deferred.make<EndReason>()
  const shared = yield* Effect.serviceOption(Pacer)
  const context = shared._tag === "Some" ? Context.make(Pacer, shared.value) : yield* Layer.build(VirtualPacer.layer)
  const outliving = yield* Effect.scope
  const remember = (fact: Fact) => void facts.push(fact)
  const call = Conversation.run({
    plan: planOf(script),
    leg: script.leg?.(leg) ?? leg,
    remember,
    endAsked,
    outliving
  })
  const fiber = yield* Effect.forkScoped(Effect.provide(call, Context.add(context, CallParts, partsOf(script))))
  // The call is listening before the caller's first move.
  yield* Effect.yieldNow
  const items = (): ReadonlyArray<SessionItem> => {
    const byKey = new Map<string, SessionItem>()
    for (const fact of facts) {
      if (fact._tag !== "ItemRecorded") continue
      const { item } = fact
      byKey.set(item.type === "message" ? item.id : `${item.type}:${item.call_id}`, item)
    }
    return [...byKey.values()]
  }
  const rehearsal: Rehearsal = {
    leg,
    caller: leg.caller,
    facts,
    items,
    transcript: () => items().flatMap((item) => (item.type === "message" ? [`${item.role}: ${item.content}`] : [])),
    latencies: () => facts.flatMap((fact) => (fact._tag === "TurnMeasured" ? [fact.latency] : [])),
    moves: () =>
      facts.flatMap((fact) => (fact._tag === "Journaled" && fact.entry.kind === "move" ? [fact.entry.name] : [])),
    state: () => {
      const states = leg.messages.flatMap(({ message }) => (message._tag === "State" ? [message.state] : []))
      return states.at(-1) ?? ""
    },
    endAsked: (reason) => void Deferred.doneUnsafe(endAsked, Effect.succeed(reason)),
    ended: () => {
      const exit = fiber.pollUnsafe()
      return exit?._tag === "Success" ? exit.value : undefined
    },
    interrupt: Fiber.interrupt(fiber)
  }
  return Object.assign(rehearsal, { done: Fiber.join(fiber) })
})

const partsOf = (script: RehearsalScript): CallParts["Service"] => {
  const chat = script.chat ?? makeScriptedChatModel(["All right."])
  return {
    synthesizer: script.synthesizer ?? makeScriptedSynthesizer(),
    transcriber:
      "transcriber" in script ? script.transcriber : makeScriptedTranscriber({ utterances: script.hears ?? [] }),
    voiceActivity: script.voiceActivity ?? makeScriptedVoiceActivity(),
    chat: () => chat,
    retrieve: script.retrieve,
    openTools: script.openTools,
    dial: script.dial,
    referRefusal: script.referRefusal,
    runTool: script.runTool ?? (() => Effect.fail(new ToolFailure({ message: "no such tool" })))
  }
}
