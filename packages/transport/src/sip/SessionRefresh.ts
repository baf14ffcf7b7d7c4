// The session timer of a dialog (RFC 4028): we refresh it by a re-INVITE, or give the call up when the far side does
// not. Its timer ends with the scope.
import { Effect, FiberHandle, type Scope } from "effect"
import type { IncomingResponseMessage } from "sip.js/lib/core/index.js"
import { attempt, sdpBody } from "./coreActs.ts"
import type { Dialog } from "./Dialog.ts"
import { answeredOf, dueSeconds, type SessionTimer } from "./sessionTimer.ts"

/** After a re-INVITE met one of theirs (RFC 3261, 14.1): 2.1 to 4 s for the owner of the Call-ID; we always wait that long. */
const glareMs = [2_100, 4_000] as const

/** The dialog, and what was agreed in its INVITE. */
export interface SessionRefreshOptions extends Dialog {
  /** Undefined for none. */
  readonly timer: SessionTimer | undefined
  /** Runs it until the session ends. */
  readonly run: (retry: Effect.Effect<void>) => void
  /** The far side did not refresh, or is gone. */
  readonly onLost: () => void
}

/** Keeps a session alive. */
export interface SessionRefresh {
  /** Another timer was agreed; it holds from the next `restart`. */
  readonly agree: (timer: SessionTimer) => void
  /** The session was refreshed just now, by either side. */
  readonly restart: () => void
}

/** Does nothing until the first `restart`, and nothing at all without a timer. */
export const makeSessionRefresh = Effect.fnUntraced(function* (
  options: SessionRefreshOptions
): Effect.fn.Return<SessionRefresh, never, Scope.Scope> {
  const { media, onLost, run, session, sip, sipTrace, timings } = options
  const runTimer = yield* FiberHandle.runtime(yield* FiberHandle.make<void>())()
  let { timer } = options

  const restart = (): void => {
    if (timer === undefined) return
    const { ours } = timer
    const due = Effect.sync(() => {
      if (ours) return refresh()
      sipTrace.note("session timer", "not refreshed")
      onLost()
    })
    runTimer(Effect.delay(due, dueSeconds(timer) * timings.secondMs))
  }

  /** Our re-INVITE that keeps the session alive (RFC 4028, 7.2). */
  const refresh = (): void => {
    const extraHeaders = [
      `Contact: ${sip.contact}`,
      "Supported: timer",
      `Session-Expires: ${timer?.seconds ?? 1800};refresher=uac`
    ]
    const description = media.current() === "" ? media.offer() : media.current()
    const sent = attempt(sip, () =>
      session.invite(
        {
          onAccept: (response) => {
            attempt(sip, () => response.ack())
            void media.accept(response.message.body)
            timer = answeredOf(response.message.getHeader("session-expires")) ?? timer
            restart()
          },
          onReject: ({ message }) => refused(message)
        },
        { extraHeaders, body: sdpBody(description) }
      )
    )
    if (!sent) restart()
  }

  const refused = ({ statusCode }: IncomingResponseMessage): void => {
    const [from, to] = glareMs
    if (statusCode === 491) run(Effect.delay(Effect.sync(refresh), from + Math.random() * (to - from)))
    // Gone, or nobody answers (RFC 3261, 14.1).
    else if (statusCode === 481 || statusCode === 408) onLost()
    else restart()
  }

  return { agree: (agreed) => void (timer = agreed), restart }
})
