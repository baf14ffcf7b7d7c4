// A call as its far side keeps it, and that side's answers: as much of a peer as it takes to say something wrong.
import { bareReply } from "../sip/bareReply.ts"
import { peekHeaders } from "../sip/text.ts"
import { type OddBody, oddBody } from "./OddBodies.ts"
import { type Chance, extras } from "./SipGrammar.ts"

/** Where a walk through a call stands. */
export interface WalkedDialog {
  readonly callId: string
  readonly branch: string
  readonly fromTag: string
  cseq: number
  toTag: string
}

/** The far side's view of a call that we placed. */
export const calledIn = (invite: string): WalkedDialog => {
  const callId = peekHeaders(invite)?.callId ?? ""
  return {
    callId,
    branch: callId.slice(0, 12),
    fromTag: `c${callId.slice(0, 8)}`,
    cseq: 100,
    toTag: /^From:.*;tag=([^;\s]+)/im.exec(invite)?.[1] ?? ""
  }
}

/** @param tag For an answer that begins a dialog; empty for any. */
export const responseTo = (
  asked: string,
  status: number,
  tag: string,
  headers: ReadonlyArray<string>,
  odd?: OddBody
): string => {
  const tagged = tag === "" ? asked : asked.replace(/^To:(?!.*;tag=)(.*)$/im, `To:$1;tag=${tag}`)
  const reply = bareReply(tagged, status, ["Contact: <sip:fuzz@192.0.2.1:5060>", ...headers]) ?? ""
  if (odd === undefined) return reply
  const entity = odd.entity.map((line) => `${line}\r\n`).join("")
  return reply.replace(
    "Content-Length: 0\r\n\r\n",
    () => `${entity}Content-Length: ${Buffer.byteLength(odd.body)}\r\n\r\n${odd.body}`
  )
}

/** What a request of this method may carry. */
export const bodyOf = (method: string, chance: Chance): Partial<OddBody> => {
  if (method === "NOTIFY") return { entity: ["Content-Type: message/sipfrag"], body: "SIP/2.0 200 OK\r\n" }
  if (method === "INFO") return { entity: ["Content-Type: application/dtmf-relay"], body: "Signal=5\r\n" }
  return method === "INVITE" || method === "UPDATE" || chance.happens(0.2) ? oddBody(chance) : {}
}

/** An answer of the one we called to our INVITE, right or wrong. */
export const answerTo = (invite: string, { fromTag }: WalkedDialog, chance: Chance): string => {
  const status = chance.one([100, 180, 183, 200, 202, 302, 401, 486, 699])
  const reliable = chance.happens(0.2) ? ["Require: 100rel", `RSeq: ${chance.below(4)}`] : []
  return responseTo(invite, status, fromTag, [...extras(chance), ...reliable], oddBody(chance))
}
