// Calls without a database, a network or a clock of their own: records are kept in memory under the same conditions as
// in the database, and count how often each was settled.
import type { EndReason } from "@parley/contract/EndReason"
import type { Fact } from "@parley/contract/Fact"
import { type CallPlan, defaultPlan } from "@parley/engine/CallPlan"
import { CallParts, ToolFailure } from "@parley/engine/ports/CallParts"
import * as FakeLeg from "@parley/engine/testing/FakeLeg"
import * as VirtualPacer from "@parley/engine/testing/VirtualPacer"
import { makeScriptedChatModel } from "@parley/llm/testing/ScriptedChatModel"
import { makeScriptedSynthesizer } from "@parley/speech/testing/ScriptedSynthesizer"
import { makeScriptedVoiceActivity } from "@parley/speech/testing/ScriptedVoiceActivity"
import type { Meter } from "@parley/workspace/billing/Billing"
import { Effect, Layer } from "effect"
import type { CallServices, ClaimedCall, UnansweredEnd } from "../calls/Call.ts"
import type { CallLimits } from "../calls/callLimits.ts"
import * as Calls from "../calls/Calls.ts"

export interface Settled extends UnansweredEnd {
  readonly from: "pending" | "active"
}

export class FakeRecords {
  readonly #status = new Map<string, "pending" | "active" | "over">()
  /** Every end of a record, in order; more than one for a session is a fault. */
  readonly ends: Array<Settled & { readonly sessionId: string }> = []
  readonly facts: Array<Fact> = []

  open(sessionId: string, status: "pending" | "active"): void {
    this.#status.set(sessionId, status)
  }

  status(sessionId: string) {
    return this.#status.get(sessionId)
  }

  end(sessionId: string, from: "pending" | "active" | undefined, ended: UnansweredEnd): boolean {
    const status = this.#status.get(sessionId)
    if (status === undefined || status === "over" || (from !== undefined && from !== status)) return false
    this.#status.set(sessionId, "over")
    this.ends.push({ sessionId, from: status, ...ended })
    return true
  }

  readonly life: CallServices["life"] = {
    record: (sessionId, facts) =>
      Effect.sync(() => {
        this.facts.push(...facts)
        for (const fact of facts) if (fact._tag === "CallEnded") this.end(sessionId, "active", { reason: fact.reason })
      }),
    settle: (sessionId, reason, from, dial) =>
      Effect.sync(() => this.end(sessionId, from, dial === undefined ? { reason } : { reason, dial }))
  }
}

export const callParts = (more: Partial<CallParts["Service"]> = {}): Layer.Layer<CallParts> =>
  Layer.sync(CallParts, () => ({
    synthesizer: makeScriptedSynthesizer(),
    transcriber: undefined,
    voiceActivity: makeScriptedVoiceActivity(),
    chat: () => makeScriptedChatModel(["Yes."]),
    runTool: () => Effect.fail(new ToolFailure({ message: "none" })),
    ...more
  }))

/** Calls over `records`; `services` take the place of what is kept in memory. */
export const makeCalls = Effect.fnUntraced(function* (
  limits: CallLimits,
  records: FakeRecords,
  services: Partial<CallServices> = {},
  parts: Partial<CallParts["Service"]> = {}
) {
  const context = yield* Layer.build(Layer.merge(callParts(parts), VirtualPacer.layer))
  const outliving = yield* Effect.scope
  let live = 0
  const made = yield* Effect.provide(
    Calls.make(limits, {
      life: records.life,
      recorder: { record: () => Effect.die(new Error("nothing is to be recorded")) },
      metrics: { began: () => void live++, ended: () => void live--, remember: () => undefined },
      billing: { meter: () => Effect.succeed(unmetered) },
      outliving,
      ...services
    }),
    context
  )
  return Object.assign(made, { gauge: () => live })
})

const now = new Date(0)
/** The meter of an account without limit. */
const unmetered: Meter = {
  account: {
    walletId: "wallet",
    workspaceId: "workspace",
    balance: 0n,
    trial: 0n,
    trialLeft: 0n,
    toppedUp: 0n,
    unlimited: true,
    concurrency: 50,
    createdAt: now,
    updatedAt: now
  },
  take: () => true,
  reached: () => undefined,
  charge: () => Effect.void,
  whilePaid: (work) => work,
  spent: Effect.never
}

/** A call whose session was joined and whose leg is there at once. */
export const answered = Effect.fnUntraced(function* (
  records: FakeRecords,
  sessionId: string,
  more: Partial<ClaimedCall> & { readonly plan?: Effect.Effect<CallPlan> } = {}
) {
  const leg = yield* FakeLeg.make()
  const end = (reason: EndReason) => Effect.sync(() => leg.close(reason))
  const claim = Effect.sync((): ClaimedCall => {
    records.open(sessionId, "active")
    return {
      sessionId,
      workspaceId: "workspace",
      agentId: "agent",
      plan: Effect.sync(() => defaultPlan(sessionId, "")),
      leg: (plan) =>
        Effect.as(
          Effect.andThen(
            Effect.addFinalizer(() => end("agent_hangup")),
            plan
          ),
          leg
        ),
      givenUp: (by) => ({ reason: by === "broken" ? "internal_error" : "agent_hangup" }),
      ...more
    }
  })
  return { leg, claim }
})
