// The calls of a LiveKit server by session, and which of them a token belongs to; of tokens only the hash is kept. Each
// call runs in a fiber of its own, from its codecs to the last free port, and is forgotten when that ends.
import type { Leg } from "@parley/engine/leg/Leg"
import { Deferred, Effect, Exit } from "effect"
import { createHash } from "node:crypto"
import { openCall, type Call, type CallListener, type CallOptions, type JoinGrant, type ReleasedHow } from "./Call.ts"

/** What the calls of a server need. */
export interface SessionCallsOptions {
  readonly call: CallOptions
  /** Once per call, when media flows. */
  readonly onLeg: (grant: JoinGrant, leg: Leg) => void
  readonly onSignalling: (sessionId: string, isThere: boolean) => void
  /** Once per call that was opened, when nothing of it is left. */
  readonly onReleased: (sessionId: string, how: ReleasedHow) => void
  /** Runs the call until the server closes. */
  readonly run: (effect: Effect.Effect<void>) => void
}

/** The calls by session. */
export class SessionCalls {
  readonly #options: SessionCallsOptions
  readonly #calls = new Map<string, Call>()
  readonly #sessionOfToken = new Map<string, string>()
  /** Calls whose codecs are being made: a second join of the same session waits for the first. */
  readonly #opening = new Map<string, Deferred.Deferred<Call>>()

  constructor(options: SessionCallsOptions) {
    this.#options = options
  }

  /** With those that are being opened. */
  get size(): number {
    return this.#calls.size + this.#opening.size
  }

  get liveCount(): number {
    return this.#calls.size
  }

  get(sessionId: string): Call | undefined {
    return this.#calls.get(sessionId)
  }

  ofToken(token: string): Call | undefined {
    return this.#calls.get(this.#sessionOfToken.get(hash(token)) ?? "")
  }

  remember(token: string, sessionId: string): void {
    this.#sessionOfToken.set(hash(token), sessionId)
  }

  /** Looks for legs without a sign of life. To be called a few times a second. */
  watch(): void {
    for (const call of this.#calls.values()) call.leg.watch()
  }

  /** The call of the session, which is opened in a fiber of its own when there is none. Dies when it cannot be. */
  getOrOpen(grant: JoinGrant): Effect.Effect<Call> {
    return Effect.suspend(() => {
      const { sessionId } = grant
      const known = this.#calls.get(sessionId)
      if (known !== undefined) return Effect.succeed(known)
      const opening = this.#opening.get(sessionId)
      if (opening !== undefined) return Deferred.await(opening)
      const opened = Deferred.makeUnsafe<Call>()
      this.#opening.set(sessionId, opened)
      this.#options.run(this.#live(grant, opened))
      return Deferred.await(opened)
    })
  }

  /** One call from its codecs to the last free port. */
  #live(grant: JoinGrant, opened: Deferred.Deferred<Call>): Effect.Effect<void> {
    const { sessionId } = grant
    const listener: CallListener = {
      onLeg: (leg) => this.#options.onLeg(grant, leg),
      onSignalling: (isThere) => this.#options.onSignalling(sessionId, isThere)
    }
    const live = Effect.scoped(
      Effect.gen({ self: this }, function* () {
        const exit = yield* Effect.exit(openCall(grant, this.#options.call, listener))
        this.#opening.delete(sessionId)
        if (Exit.isSuccess(exit)) this.#calls.set(sessionId, exit.value)
        Deferred.doneUnsafe(opened, exit)
        const call = yield* exit
        yield* Effect.asVoid(call.over)
      })
    )
    return Effect.ensuring(
      Effect.ignoreCause(live),
      Effect.suspend(() => this.#forget(sessionId))
    )
  }

  #forget(sessionId: string): Effect.Effect<void> {
    const call = this.#calls.get(sessionId)
    this.#opening.delete(sessionId)
    this.#calls.delete(sessionId)
    for (const [token, id] of this.#sessionOfToken) if (id === sessionId) this.#sessionOfToken.delete(token)
    if (call === undefined) return Effect.void
    return Effect.map(call.over, (how) => this.#options.onReleased(sessionId, how))
  }
}

const hash = (token: string): string => createHash("sha256").update(token).digest("base64url")
