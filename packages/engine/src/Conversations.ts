// The registry of live calls and their only supervisor: exact admission, one fiber per call, ends by
// name, drains as a whole. A call that dies takes no neighbour along.
import { Context, Data, Deferred, Effect, Fiber, FiberMap, Layer } from "effect"
import type { EndReason } from "@parley/contract/EndReason"
import type { Fact } from "@parley/contract/Fact"
import type { CallPlan } from "./CallPlan.ts"
import type { Pacer } from "./playout/Pacer.ts"
import type { CallParts } from "./ports/CallParts.ts"
import type { Leg } from "./leg/Leg.ts"
import * as Conversation from "./Conversation.ts"

export class Refused extends Data.TaggedError("Refused")<{
  /** `full`: every slot is taken. `draining`: no new calls. `taken`: this session already runs. */
  readonly reason: "full" | "draining" | "taken"
}> {}

export interface ConversationOptions {
  readonly plan: CallPlan
  readonly leg: Leg
  /**
   * Called with every fact in order; must not throw or wait. After `CallEnded` only results of tools come that were
   * told to go on by themselves.
   */
  readonly remember: (fact: Fact) => void
}

export class Conversations extends Context.Service<
  Conversations,
  {
    /** Takes a slot and starts the call; the effect returned by it waits for the end. */
    readonly start: (options: ConversationOptions) => Effect.Effect<Effect.Effect<EndReason>, Refused>
    /** False when no such call is live. Returns once the call is over. */
    readonly end: (sessionId: string, reason: EndReason) => Effect.Effect<boolean>
    readonly live: () => number
    readonly capacity: number
    /** Refuses new calls and ends the live ones, at most `boundMs` each. */
    readonly drain: (reason: EndReason, boundMs: number) => Effect.Effect<void>
  }
>()("./Conversations.ts") {
  static readonly layer = (options: {
    readonly capacity: number
  }): Layer.Layer<Conversations, never, CallParts | Pacer> =>
    Layer.effect(
      Conversations,
      Effect.gen(function* () {
        const context = yield* Effect.context<CallParts | Pacer>()
        const outliving = yield* Effect.scope
        const fibers = yield* FiberMap.make<string, EndReason>()
        const calls = new Map<string, Deferred.Deferred<EndReason>>()
        let draining = false

        const start = Effect.fnUntraced(function* ({ leg, plan, remember }: ConversationOptions) {
          const id = plan.sessionId
          if (draining) return yield* new Refused({ reason: "draining" })
          if (calls.has(id)) return yield* new Refused({ reason: "taken" })
          if (calls.size >= options.capacity) return yield* new Refused({ reason: "full" })
          const endAsked = Deferred.makeUnsafe<EndReason>()
          calls.set(id, endAsked)
          const call = Conversation.run({ plan, leg, remember, endAsked, outliving }).pipe(
            Effect.ensuring(Effect.sync(() => calls.delete(id))),
            Effect.provide(context)
          )
          const fiber = yield* FiberMap.run(fibers, id, call)
          return Fiber.join(fiber)
        })

        const end = Effect.fnUntraced(function* (sessionId: string, reason: EndReason) {
          const endAsked = calls.get(sessionId)
          const fiber = FiberMap.getUnsafe(fibers, sessionId)
          if (endAsked === undefined || fiber._tag === "None") return false
          Deferred.doneUnsafe(endAsked, Effect.succeed(reason))
          yield* Fiber.await(fiber.value)
          return true
        })

        return {
          start,
          end,
          live: () => calls.size,
          capacity: options.capacity,
          drain: (reason, boundMs) =>
            Effect.suspend(() => {
              draining = true
              return Effect.forEach([...calls.keys()], (id) => Effect.timeoutOption(end(id, reason), boundMs), {
                concurrency: "unbounded",
                discard: true
              })
            })
        }
      })
    )
}
