// What the engine needs from outside to hold a call: speech engines, a language model, and whoever runs tools.
import { Context, Data, type Effect, type Scope } from "effect"
import type { ChatModel } from "@parley/llm/ChatModel"
import type { LlmChoice } from "@parley/llm/LlmChoice"
import type { Synthesizer } from "@parley/speech/ports/Synthesizer"
import type { Transcriber } from "@parley/speech/ports/Transcriber"
import type { VoiceActivity } from "@parley/speech/ports/VoiceActivity"
import type { Leg } from "../leg/Leg.ts"
import type { CallPlan, PlannedTool } from "../CallPlan.ts"

/** A tool did not do what it was asked. */
export class ToolFailure extends Data.TaggedError("ToolFailure")<{
  /** For the model and the history; holds no credential. */
  readonly message: string
}> {}

/** Runs a tool that lives outside of the call (webhook, builtin of another room). Bounded by the caller. */
export type RunTool = (call: {
  readonly sessionId: string
  readonly tool: PlannedTool
  readonly args: Readonly<Record<string, unknown>>
}) => Effect.Effect<string, ToolFailure>

/** A piece of a document that was found. */
export interface Passage {
  readonly title: string
  readonly text: string
}

/** What of the plan's knowledge has to do with the text, best first. Bounded by the caller; failing costs one turn's passages. */
export type Retrieve = (plan: CallPlan, text: string) => Effect.Effect<ReadonlyArray<Passage>, unknown>

/**
 * Why nobody may be called from this call. `not_allowed`: this destination; `dialling_off`: the workspace may not place
 * calls; `limit_reached`: its calls of a day or at the same time; `no_place`: the service has no place for another one.
 */
export type DialRefusal = "not_allowed" | "dialling_off" | "limit_reached" | "no_place" | "no_credit"

/** The person called did not take the call, or was not called. */
export class DialFailure extends Data.TaggedError("DialFailure")<{
  readonly reason: "busy" | "no_answer" | "failed" | DialRefusal
}> {}

/** What a call is placed for: to speak with a colleague first, or because the carrier declined to hand the caller over. */
export type CallReason = "consultation" | "refer_declined"

/** Calls somebody for this call: a colleague, or whom it is handed to. Hung up when its scope closes; interruptible. */
export type Dial = (
  plan: CallPlan,
  target: string,
  ringSeconds: number,
  reason: CallReason
) => Effect.Effect<Leg, DialFailure, Scope.Scope>

/** Why the far side's carrier may not be asked to hand this call over to there; undefined: it may. */
export type ReferRefusal = (plan: CallPlan, target: string) => Effect.Effect<DialRefusal | undefined>

/** The ports that a call is held with. One value serves all calls of a process. */
export class CallParts extends Context.Service<
  CallParts,
  {
    readonly synthesizer: Synthesizer
    /** Undefined when no recogniser is configured or present: the call is then typed only. */
    readonly transcriber: Transcriber | undefined
    readonly voiceActivity: VoiceActivity
    readonly chat: (choice: LlmChoice) => ChatModel
    readonly runTool: RunTool
    /** In place of `runTool`, for tools that keep something open: asked once a call, closed with its scope. Does not wait. */
    readonly openTools?: ((plan: CallPlan) => Effect.Effect<RunTool, never, Scope.Scope>) | undefined
    /** Left out where no other call can be placed from this one. */
    readonly dial?: Dial | undefined
    /** Asked before each REFER; left out where every destination of a plan may be handed over to. */
    readonly referRefusal?: ReferRefusal | undefined
    /** Left out where no plan has knowledge to be searched. */
    readonly retrieve?: Retrieve | undefined
  }
>()("@parley/engine/CallParts") {}
