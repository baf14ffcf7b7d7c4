// From an answered INVITE to a leg, in the scope of the call: the session that keeps the far side's words, and the leg
// that is handed out once the codec is known. Closing the scope tells the leg, says BYE and frees the media ports.
import { Deferred, Effect, type Option, type Scope } from "effect"
import type { Session } from "sip.js/lib/core/index.js"
import type { SipTimings } from "../phone/Phone.ts"
import type { Media } from "../rtp/Media.ts"
import type { SipTrace } from "./SipTrace.ts"
import type { SessionTimer } from "./sessionTimer.ts"
import type { SipCore } from "./SipCore.ts"
import { SipLeg } from "./SipLeg.ts"
import { makeSipSession, type SipSession } from "./SipSession.ts"

/** A dialog that was accepted, with its media. */
export interface ConversationOptions {
  readonly callId: string
  readonly sip: SipCore
  readonly session: Session
  readonly media: Media
  readonly sipTrace: SipTrace
  readonly timer: SessionTimer | undefined
  readonly timings: SipTimings
}

/** A call that is up. */
export interface Conversation {
  readonly session: SipSession
  /** Hands out the leg; the same one each time. */
  readonly leg: () => SipLeg
  /** Resolves when either side has ended the call. */
  readonly over: Effect.Effect<void>
}

/** Media that are freed with the scope; none when no ports are free. */
export const acquireMedia = (make: () => Promise<Media>): Effect.Effect<Option.Option<Media>, never, Scope.Scope> =>
  Effect.acquireRelease(Effect.tryPromise(make), (media) => Effect.sync(() => media.close())).pipe(Effect.option)

/** Begins to talk on a dialog that was accepted. The scope must be closed when `over` resolves. */
export const converse = Effect.fnUntraced(function* (
  options: ConversationOptions
): Effect.fn.Return<Conversation, never, Scope.Scope> {
  const { callId, media, sipTrace } = options
  let leg: SipLeg | undefined
  const early: Array<string> = []
  const session = yield* makeSipSession({
    ...options,
    onDigit: (digit) => (leg === undefined ? void early.push(digit) : leg.takeDigit(digit))
  })
  yield* Effect.addFinalizer(() => {
    session.end("failed")
    return Effect.map(Deferred.await(session.ended), (how) => leg?.end(how))
  })
  return {
    session,
    over: Effect.asVoid(Deferred.await(session.ended)),
    leg: () => {
      if (leg !== undefined) return leg
      leg = new SipLeg({ callId, media, sipTrace, end: session.end, refer: session.refer })
      for (const digit of early) leg.takeDigit(digit)
      return leg
    }
  }
})
