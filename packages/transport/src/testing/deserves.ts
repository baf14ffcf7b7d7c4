// Which of the wrong messages still are whole enough to be answered.
import { bareReply } from "../sip/bareReply.ts"
import { parse } from "../sip/SipCore.ts"
import { addBranch, normalise, peekHeaders, unfolded } from "../sip/text.ts"

/** A request that is whole enough to be answered. */
export const deserves = (text: string): boolean => {
  const whole = addBranch(unfolded(text))
  const seen = peekHeaders(whole)
  if (seen?.method === undefined || seen.method === "ACK" || normalise(whole) === undefined) return false
  return bareReply(whole, 400) !== undefined && parse(normalise(whole) ?? "") !== undefined
}
