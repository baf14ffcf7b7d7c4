// Who may come in, and how many: a join takes a seat and uses its token up, everything else only asks. A refusal
// for want of a seat costs the token nothing. A seat is free again when neither the door nor the engine holds the
// call any more.
import type { CallPlan } from "@parley/engine/CallPlan"
import type { AdmitPurpose, LiveKitServerOptions } from "@parley/transport/livekit/LiveKitServer"
import { Effect, Option, type Scope } from "effect"
import type { JoinTokens } from "../sessions/JoinTokens.ts"

export type Verdict = Awaited<ReturnType<LiveKitServerOptions["admit"]>>

export interface AdmissionOptions {
  readonly tokens: Pick<JoinTokens["Service"], "verify">
  /** Makes a pending session active, once, and gives its plan. */
  readonly claim: (sessionId: string) => Effect.Effect<CallPlan, unknown>
  /** Whether `claim` would succeed now. */
  readonly isOpen: (sessionId: string) => Effect.Effect<boolean>
  /** A claimed session that came to nothing. */
  readonly giveUp: (sessionId: string) => Effect.Effect<unknown>
  readonly capacity: number
  /** Places that calls of another door have taken. */
  readonly elsewhere?: () => number
}

export interface Admission {
  readonly admit: (token: string, purpose: AdmitPurpose) => Effect.Effect<Verdict>
  /** Media flows: the plan to hold the call by, once. Undefined when it was cancelled meanwhile. */
  readonly begin: (sessionId: string) => CallPlan | undefined
  /** The engine is done with a call that was begun. */
  readonly ended: (sessionId: string) => void
  /** The door is done with it. True when it was never begun and nobody else will say that it is over. */
  readonly released: (sessionId: string) => boolean
  /** A call that was claimed and not begun will not begin. False when there is none. */
  readonly cancel: (sessionId: string) => boolean
  /** Places taken. */
  readonly taken: () => number
  /** Nobody comes in from now on. */
  readonly close: () => void
  readonly isClosed: () => boolean
}

/** A claimed call begins within this time, which is more than the door allows for media to flow. */
const beginMs = 60_000

export const make = Effect.fnUntraced(function* (
  options: AdmissionOptions
): Effect.fn.Return<Admission, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const atDoor = new Set<string>()
  const inEngine = new Set<string>()
  /** Claimed, waiting for their media to flow. */
  const waiting = new Map<string, CallPlan>()
  let closed = false

  const isLive = (sessionId: string): boolean => atDoor.has(sessionId) || inEngine.has(sessionId)
  const taken = (): number => atDoor.size + [...inEngine].filter((id) => !atDoor.has(id)).length

  const join = Effect.fnUntraced(function* (sessionId: string) {
    const plan = yield* options.claim(sessionId)
    waiting.set(sessionId, plan)
    const expiry = Effect.suspend(() => {
      if (waiting.get(sessionId) !== plan) return Effect.void
      waiting.delete(sessionId)
      atDoor.delete(sessionId)
      return options.giveUp(sessionId)
    })
    yield* Effect.forkIn(Effect.delay(expiry, beginMs), scope)
  })

  const admit = Effect.fnUntraced(function* (token: string, purpose: AdmitPurpose): Effect.fn.Return<Verdict> {
    const claims = options.tokens.verify(token)
    if (claims === undefined) return refuse(401, "the token is not valid")
    const { identity, sessionId } = claims
    const seat = { sessionId, identity, room: sessionId }
    if (isLive(sessionId)) return purpose === "join" ? refuse(401, used) : seat
    if (claims.expired) return refuse(401, "the token has expired")
    if (purpose === "rejoin") return refuse(404, "the session is not live")
    if (closed) return refuse(503, "the service is stopping")
    if (taken() + (options.elsewhere?.() ?? 0) >= options.capacity) return refuse(503, "no free place for another call")
    if (purpose === "validate") return (yield* options.isOpen(sessionId)) ? seat : refuse(401, used)
    // Taken before anything is waited for: two joins at once cannot have one seat.
    atDoor.add(sessionId)
    const joined = yield* Effect.option(join(sessionId)).pipe(
      Effect.onError(() => Effect.sync(() => atDoor.delete(sessionId)))
    )
    if (Option.isSome(joined)) return seat
    atDoor.delete(sessionId)
    return refuse(401, used)
  })

  return {
    admit,
    begin: (sessionId) => {
      const plan = waiting.get(sessionId)
      waiting.delete(sessionId)
      if (plan !== undefined) inEngine.add(sessionId)
      return plan
    },
    ended: (sessionId) => void inEngine.delete(sessionId),
    released: (sessionId) => {
      atDoor.delete(sessionId)
      return waiting.delete(sessionId)
    },
    cancel: (sessionId) => waiting.delete(sessionId),
    taken,
    close: () => (closed = true),
    isClosed: () => closed
  }
})

const used = "the token has been used, or the session is over"

const refuse = (status: number, message: string): Verdict => ({ refused: { status, message } })
