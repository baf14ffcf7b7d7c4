// What the peers of a call said goes beside its session's record, once it is all there.
import type { PhoneLeg } from "@parley/transport/phone/Phone"
import type { PhoneCalls } from "@parley/workspace/phone/PhoneCalls"
import { Effect } from "effect"
import type { Telephone } from "./Telephone.ts"

/** @param from the call's leg, or its SIP Call-ID when it never got one. Never fails; a trace that is lost is logged. */
export const keptTrace = (
  phoneCalls: Pick<PhoneCalls["Service"], "keepSipTrace">,
  telephone: Pick<Telephone["Service"], "traceOf">,
  sessionId: string,
  from: PhoneLeg | string
): Effect.Effect<void> =>
  Effect.suspend(() => (typeof from === "string" ? telephone.traceOf(from) : Effect.succeed(from.sipTrace()))).pipe(
    Effect.flatMap((trace) => (trace.length === 0 ? Effect.void : phoneCalls.keepSipTrace(sessionId, trace))),
    Effect.catchCause(() => Effect.logWarning("What the peers of a call said could not be kept"))
  )
