// The end of a call, told exactly once whatever else goes wrong: the fact `CallEnded`, the client's goodbye, the closed
// leg. A step that throws is logged and does not keep the next one from being taken.
import { Clock, Effect } from "effect"
import type { EndReason } from "@parley/contract/EndReason"
import type { Fact } from "@parley/contract/Fact"
import type { Leg } from "./leg/Leg.ts"

/** Who is told. */
export interface EndingOptions {
  readonly leg: Pick<Leg, "tell" | "close">
  readonly remember: (fact: Fact) => void
}

/** Idempotent: the first reason counts, and is returned by every call. */
export type Ending = (reason: EndReason) => Effect.Effect<EndReason>

/** One for the call; reads the wall clock when it is told. */
export const make = ({ leg, remember }: EndingOptions): Ending => {
  let told: EndReason | undefined
  return Effect.fnUntraced(function* (reason: EndReason) {
    if (told !== undefined) return told
    told = reason
    const at = new Date(yield* Clock.currentTimeMillis).toISOString()
    yield* step("CallEnded", () => remember({ _tag: "CallEnded", reason, at }))
    yield* step("tell", () => leg.tell({ _tag: "Event", event: { type: "session.ended", reason } }))
    yield* step("close", () => leg.close(reason))
    return told
  })
}

const step = (name: string, act: () => void): Effect.Effect<void> =>
  Effect.catchCause(Effect.sync(act), (cause) => Effect.logError("a step of a call's end failed", name, cause))
