// A blind transfer within a dialog: our REFER, and the NOTIFY that tells how it went (RFC 3515).
import { Deferred, Effect, Exit } from "effect"
import type { IncomingRequestMessage, IncomingResponseMessage } from "sip.js/lib/core/index.js"
import type { SipHeaders } from "../phone/Phone.ts"
import { attempt } from "./coreActs.ts"
import type { Dialog } from "./Dialog.ts"

/** The transfers of one dialog; the NOTIFYs that come belong to the latest. */
export interface Transfer {
  /**
   * Sends a REFER. Resolves with the status that a NOTIFY or a refusal tells; null for silence within `referMs`, or when
   * the dialog ends before.
   */
  readonly refer: (target: string, headers: SipHeaders) => Promise<number | null>
  /** A NOTIFY: `SIP/2.0 200 OK` and the like in the body (RFC 3515, 2.4.5). */
  readonly notified: (message: IncomingRequestMessage) => void
}

/** @param ended Done when the dialog is over. */
export const makeTransfer = <Ended>(
  { session, sip, sipTrace, timings }: Dialog,
  ended: Deferred.Deferred<Ended>
): Transfer => {
  let referred: Deferred.Deferred<number | null> | undefined
  return {
    refer: (target, headers) => {
      const told = (referred = Deferred.makeUnsafe<number | null>())
      const extraHeaders = [
        `Refer-To: <${target}>`,
        `Referred-By: ${sip.contact}`,
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
      ]
      const onReject = ({ message }: { readonly message: IncomingResponseMessage }): void =>
        void Deferred.doneUnsafe(told, Exit.succeed(message.statusCode ?? null))
      const isSent = !Deferred.isDoneUnsafe(ended) && attempt(sip, () => session.refer({ onReject }, { extraHeaders }))
      if (!isSent) return Promise.resolve(null)
      return Effect.raceFirst(Deferred.await(told), Effect.as(Deferred.await(ended), null)).pipe(
        Effect.timeoutOrElse({ duration: timings.referMs, orElse: () => Effect.succeed(null) }),
        Effect.runPromise
      )
    },
    notified: (message) => {
      const status = Number(/^SIP\/2\.0\s+(\d{3})/i.exec(message.body.trim())?.[1] ?? 0)
      sipTrace.note("transfer", status === 0 ? "no status" : String(status))
      const isOver = /^terminated/i.test(message.getHeader("subscription-state") ?? "")
      if (referred === undefined) return
      if (status >= 200) Deferred.doneUnsafe(referred, Exit.succeed(status))
      else if (isOver) Deferred.doneUnsafe(referred, Exit.succeed(null))
    }
  }
}
