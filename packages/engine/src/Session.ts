// One call, from the first frame to the last: a scope with the ear, the floor, the reply, the hands and
// the player in it. The loop takes one signal at a time, lets the floor decide, and carries the moves
// out; none of them waits. Ends with the reason; closing the scope takes everything along.
import { ToneDetector } from "@parley/audio/ToneDetector"
import { Cause, Clock, Deferred, Effect, FiberHandle, Queue, type Scope } from "effect"
import type { EndReason } from "@parley/contract/EndReason"
import type { ClientEvent } from "@parley/contract/ClientEvent"
import type { Fact } from "@parley/contract/Fact"
import type { CallPlan } from "./CallPlan.ts"
import * as AsrStream from "./asr/AsrStream.ts"
import * as Journal from "./journal/Journal.ts"
import { Pacer } from "./playout/Pacer.ts"
import { CallParts, type RunTool } from "./ports/CallParts.ts"
import type { Leg } from "./leg/Leg.ts"
import { toolSpecs } from "./reply/Answer.ts"
import * as Stage from "./Stage.ts"
import { phoneToolsOf, runPhoneTool } from "./transfer/PhoneTools.ts"
import { SwitchedLeg } from "./leg/SwitchedLeg.ts"
import type { TransfersOptions } from "./transfer/Transfers.ts"
import { nextDeadline } from "./turn/deadlines.ts"
import * as Floor from "./turn/Floor.ts"
import type { Signal } from "./turn/Signal.ts"
import { step } from "./turn/TurnTaking.ts"

export interface SessionOptions {
  readonly plan: CallPlan
  readonly leg: Leg
  /** Every fact, in order, on the call's own fiber or the media thread; must not throw. */
  readonly remember: (fact: Fact) => void
  /** Completed from outside to end the call. */
  readonly endAsked: Deferred.Deferred<EndReason>
  /** For tools that outlive the call; their results are facts after `CallEnded`. */
  readonly outliving: Scope.Scope
}

/** Signals waiting at once; a call that cannot keep up is lost, not the process. */
const mailboxSize = 4_096
/**
 * Windows (32 ms) without voice that commit an utterance. Two where a reply may be begun on it at once and the
 * recogniser follows along; a recogniser that is asked utterance by utterance gets whole ones.
 */
const pauseWindows = (speculative: boolean, streaming: boolean): number => (streaming ? (speculative ? 2 : 6) : 8)

export const run = Effect.fnUntraced(function* (options: SessionOptions) {
  const { endAsked, outliving, remember } = options
  const given = yield* CallParts
  const leg = new SwitchedLeg(options.leg)
  const phoneTools = leg.telephone === undefined ? [] : phoneToolsOf(options.plan)
  const plan = { ...options.plan, tools: [...options.plan.tools, ...phoneTools] }
  const pacer = yield* Pacer
  const runOthers = given.openTools === undefined ? given.runTool : yield* given.openTools(plan)
  const runTool: RunTool = (call) => {
    const own = runPhoneTool(call.tool, call.args, transfers)
    return own === undefined ? runOthers(call) : Effect.provideService(own, Pacer, pacer)
  }
  const parts = { ...given, runTool }
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const startedAt = clock.currentTimeNanosUnsafe()
  const now = (): number => Number(clock.currentTimeNanosUnsafe() - startedAt) / 1e6
  const isoNow = (): string => new Date(clock.currentTimeMillisUnsafe()).toISOString()
  const journal = Journal.make(remember)
  const mailbox = yield* Queue.dropping<Signal>(mailboxSize)
  const defect = yield* Deferred.make<never>()
  const onDefect = (cause: Cause.Cause<never>): void => void Deferred.doneUnsafe(defect, Effect.failCause(cause))
  const tell = (signal: Signal): void => {
    if (!Queue.offerUnsafe(mailbox, signal)) onDefect(Cause.die(new Error("the call's mailbox is full")))
  }
  const tellFault = faultTeller(leg, now)
  const onFault = (name: string, data: Record<string, unknown>): void => {
    journal.fault(now(), name, data)
    tellFault(name)
  }

  for (const { data, name } of plan.missing ?? []) journal.fault(now(), name, data)
  if (plan.showInstructions === true) {
    journal.note(now(), "model_instructions", { system: plan.prompt.system, tools: toolSpecs(plan) })
  }
  const onNote = (name: string, data: Record<string, unknown>): void => journal.note(now(), name, data)
  const stage = yield* Stage.make({
    plan,
    parts,
    leg,
    scope,
    outliving,
    now,
    isoNow,
    remember,
    tell,
    onNote,
    onFault,
    onDefect
  })
  const transfers: TransfersOptions = {
    plan,
    parts: given,
    leg,
    now,
    said: stage.said,
    history: stage.history,
    end: (reason) => tell({ _tag: "EndAsked", reason }),
    onSaid: (text) => stage.recordLine(text),
    onNote
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => pacer.join(stage.player)),
    (leave) => Effect.sync(leave)
  )

  const ear =
    parts.transcriber === undefined
      ? undefined
      : yield* AsrStream.make({
          ...plan.hearing,
          transcriber: parts.transcriber,
          voiceActivity: parts.voiceActivity,
          pauseWindows: pauseWindows(plan.conversation.speculativeResponse, parts.transcriber.streaming),
          now,
          tell,
          onFault
        })
  if (ear === undefined) {
    onFault("no_transcriber", {})
  }
  const beeps =
    plan.conversation.voicemail === undefined ? undefined : new ToneDetector(() => tell({ _tag: "BeepHeard" }))
  leg.attach({
    onFrame: (frame) => {
      ear?.hear(frame)
      beeps?.hear(frame)
    },
    onEvent: (event) =>
      event.type === "client_tool.result" ? stage.tools.onClientResult(event) : tell(signalOf(event)),
    onDigit: (digit) => tell({ _tag: "Digit", digit }),
    onClosed: (how) => tell({ _tag: "EndAsked", reason: leg.handedOver ? "escalated" : closedReasons[how] })
  })
  yield* Effect.forkScoped(Effect.map(Deferred.await(endAsked), (reason) => tell({ _tag: "EndAsked", reason })))

  const alarm = yield* FiberHandle.make<void>()
  let floor = Floor.initial({
    ...plan.conversation,
    firstMessage: plan.prompt.firstMessage.mode,
    partials: parts.transcriber?.streaming ?? false
  })
  let alarmAt = Number.POSITIVE_INFINITY
  const converse = Effect.gen(function* () {
    tell({ _tag: "CallStarted" })
    while (floor.ended === null) {
      const signal = yield* Queue.take(mailbox)
      const at = now()
      if (signal._tag === "TimePassed") alarmAt = Number.POSITIVE_INFINITY
      journal.signal(at, signal)
      const [next, moves] = step(floor, signal, at)
      floor = next
      for (const move of moves) {
        journal.move(at, move)
        yield* stage.perform(move)
      }
      const due = nextDeadline(floor)?.at ?? Number.POSITIVE_INFINITY
      if (due !== alarmAt) {
        alarmAt = due
        const wait = Effect.sleep(Math.max(0, due - now()))
        yield* FiberHandle.run(
          alarm,
          Effect.map(wait, () => tell({ _tag: "TimePassed" }))
        )
      }
    }
    return floor.ended
  })

  const reason = yield* Effect.raceFirst(converse, Deferred.await(defect)).pipe(
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.logError("a call ended by a defect", Cause.pretty(cause)).pipe(
            Effect.as("internal_error" satisfies EndReason as EndReason)
          )
    ),
    Effect.onInterrupt(() => stage.finish("internal_error"))
  )
  yield* stage.finish(reason)
  return reason
}, Effect.scoped)

/** Faults of engines that the client is told of (decisions 12), in words without provider or cause. */
const providerFaults: Readonly<Record<string, string>> = {
  no_transcriber: "no speech recognition",
  asr_stream_lost: "speech recognition failed",
  asr_final_overdue: "speech recognition failed",
  tts_failed: "speech synthesis failed",
  llm_failed: "the language model failed"
}
/** The same news is not told again within this time. */
const faultPauseMs = 5_000

const faultTeller = (leg: Leg, now: () => number): ((name: string) => void) => {
  const toldAt = new Map<string, number>()
  return (name) => {
    const message = providerFaults[name]
    if (message === undefined || now() - (toldAt.get(message) ?? -faultPauseMs) < faultPauseMs) return
    toldAt.set(message, now())
    leg.tell({ _tag: "Event", event: { type: "error", code: "provider_error", message } })
  }
}

const closedReasons = { left: "user_hangup", lost: "heartbeat_timeout", failed: "internal_error" } as const

const signalOf = (event: Exclude<ClientEvent, { type: "client_tool.result" }>): Signal => {
  switch (event.type) {
    case "user.message":
      return { _tag: "Typed", text: event.text, spoken: event.audio ?? true }
    case "user.activity":
      return { _tag: "ActivitySeen" }
    case "user.interrupt":
      return { _tag: "InterruptAsked" }
    case "user.hangup":
      return { _tag: "EndAsked", reason: "user_hangup" }
  }
}
