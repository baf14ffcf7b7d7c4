// One call, from the first frame to the last: opens the children of the call in one scope (speech input, turn-taking,
// replies, tools, timekeeper) and decides why it ended. A defect in any child ends this call and no other. Closing the
// scope takes everything along.
import { Cause, Deferred, Effect, Exit, Queue, type Scope } from "effect"
import type { EndReason } from "@parley/contract/EndReason"
import type { Fact } from "@parley/contract/Fact"
import * as SpeechInput from "./asr/SpeechInput.ts"
import type { CallContext } from "./CallContext.ts"
import type { CallPlan } from "./CallPlan.ts"
import type { Ending } from "./Ending.ts"
import * as Journal from "./journal/Journal.ts"
import * as ClientFeed from "./leg/ClientFeed.ts"
import type { Leg } from "./leg/Leg.ts"
import { SwitchedLeg } from "./leg/SwitchedLeg.ts"
import { performer } from "./performer.ts"
import { Pacer } from "./playout/Pacer.ts"
import { CallParts, type RunTool } from "./ports/CallParts.ts"
import { toolSpecs } from "./reply/Answer.ts"
import * as ReplyController from "./reply/ReplyController.ts"
import { cannotFail, forkSupervised, guarded, type OnDefect, supervise } from "./supervise.ts"
import * as CallClock from "./time/CallClock.ts"
import * as Timekeeper from "./time/Timekeeper.ts"
import * as ToolRunner from "./tools/ToolRunner.ts"
import * as Transcript from "./transcript/Transcript.ts"
import { phoneToolsOf, runPhoneTool } from "./transfer/PhoneTools.ts"
import type { TransfersOptions } from "./transfer/Transfers.ts"
import { closedReasons, signalOf } from "./turn/signalOf.ts"
import type { Signal } from "./turn/Signal.ts"
import * as TurnLoop from "./turn/TurnLoop.ts"

/** What one call is held with. */
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

/** Returns why the call ended, after `ending` was told. Interrupted or broken before that, `ending` is left to the caller. */
export const run = Effect.fnUntraced(function* (options: SessionOptions, ending: Ending) {
  const { endAsked, outliving, remember } = options
  const parts = yield* CallParts
  const pacer = yield* Pacer
  const leg = new SwitchedLeg(options.leg)
  const clock = yield* CallClock.make
  const feed = ClientFeed.make(leg, clock.now)
  const journal = Journal.make({ remember, now: clock.now, onFault: feed.fault })
  const fatal = yield* Deferred.make<readonly [Cause.Cause<never>, string]>()
  const onDefect: OnDefect = (...defect) => void Deferred.doneUnsafe(fatal, Effect.succeed(defect))
  const mailbox = yield* Queue.dropping<Signal>(mailboxSize)
  const tell = (signal: Signal): void => {
    if (!Queue.offerUnsafe(mailbox, signal)) onDefect(Cause.die(new Error("the call's mailbox is full")), "TurnTaking")
  }
  const scope = yield* Effect.scope
  const plan = withPhoneTools(options.plan, leg)
  const call: CallContext = { plan, scope, clock, journal, remember, tell, onDefect }
  const transcript = Transcript.make({ sessionId: plan.sessionId, remember, iso: clock.iso })
  writeBeginning(plan, journal)

  const runOthers = parts.openTools === undefined ? parts.runTool : yield* parts.openTools(plan)
  const runTool: RunTool = (asked) => {
    const own = runPhoneTool(asked.tool, asked.args, transfers)
    return own === undefined ? runOthers(asked) : Effect.provideService(own, Pacer, pacer)
  }
  const onNews = (text: string): void => {
    transcript.note(text)
    tell({ _tag: "NewsArrived" })
  }
  const tools = yield* ToolRunner.make({ call, outliving, run: runTool, emit: feed.event, onNews })
  const replies = ReplyController.make({ call, parts, leg, feed, transcript, tools })
  const transfers: TransfersOptions = { call, parts, leg, transcript, said: replies.said }
  feed.state("initializing")
  yield* Effect.acquireRelease(
    Effect.sync(() => pacer.join(replies.player)),
    (leave) => Effect.sync(leave)
  )
  const speechInput = yield* SpeechInput.make(call, parts)
  leg.attach({
    onFrame: speechInput.hear,
    onEvent: guarded("Leg", onDefect, (event) =>
      event.type === "client_tool.result" ? tools.onClientResult(event) : tell(signalOf(event))
    ),
    onDigit: (digit) => tell({ _tag: "Digit", digit }),
    onClosed: (how) => tell({ _tag: "EndAsked", reason: leg.handedOver ? "escalated" : closedReasons[how] })
  })
  yield* forkSupervised(
    scope,
    Effect.map(Deferred.await(endAsked), (reason) => tell({ _tag: "EndAsked", reason })),
    { child: "Session", onFailure: cannotFail, onDefect }
  )
  const { wakeAt } = yield* Timekeeper.make({ now: clock.now, onDue: () => tell({ _tag: "TimePassed" }), onDefect })
  const rules = {
    ...plan.conversation,
    firstMessage: plan.prompt.firstMessage.mode,
    partials: parts.transcriber?.streaming ?? false
  }
  const perform = performer({ replies, transcript, feed })
  tell({ _tag: "CallStarted" })
  const ended = yield* Deferred.make<EndReason>()
  const turns = TurnLoop.run({ rules, mailbox, now: clock.now, journal, perform, wakeAt }).pipe(
    Effect.flatMap((reason) => Deferred.succeed(ended, reason))
  )
  const talk = supervise(turns, { child: "TurnTaking", onFailure: cannotFail, onDefect })
  const broken = Effect.flatMap(Deferred.await(fatal), ([cause, child]) =>
    Effect.as(Effect.logError("a call ended by a defect", child, Cause.pretty(cause)), "internal_error" as const)
  )
  return yield* Effect.raceFirst(Effect.andThen(talk, Deferred.await(ended)), broken).pipe(
    Effect.onExit((exit) =>
      Effect.forEach([replies.stop, replies.discard, tools.cancel], logged, { discard: true }).pipe(
        Effect.andThen(ending(Exit.isSuccess(exit) ? exit.value : "internal_error"))
      )
    )
  )
}, Effect.scoped)

/** A step of the end that breaks does not keep the next from being taken. */
const logged = (step: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.catchCause(step, (cause) => Effect.logError("a step of a call's end failed", Cause.pretty(cause)))

const withPhoneTools = (plan: CallPlan, { telephone }: Leg): CallPlan =>
  telephone === undefined ? plan : { ...plan, tools: [...plan.tools, ...phoneToolsOf(plan)] }

/** What could not be prepared, and what the model is told, where that is wanted. */
const writeBeginning = (plan: CallPlan, journal: Journal.Journal): void => {
  for (const { data, name } of plan.missing ?? []) journal.fault(name, data)
  if (plan.showInstructions !== true) return
  const { documents = "", system } = plan.prompt
  journal.note("model_instructions", {
    system,
    ...(documents === "" ? {} : { documents }),
    tools: toolSpecs(plan)
  })
}
