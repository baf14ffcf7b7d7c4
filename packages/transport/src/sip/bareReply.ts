// An answer made from a request's own lines (RFC 3261, 8.2.6), for what never becomes a transaction: refusals before a
// call exists, and messages that no parser takes. Pure; the same request always gets the same tag.
import { createHash } from "node:crypto"
import { headOf, headerIn } from "./text.ts"

const reasons: Readonly<Record<number, string>> = {
  100: "Trying",
  200: "OK",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  415: "Unsupported Media Type",
  416: "Unsupported URI Scheme",
  420: "Bad Extension",
  481: "Call/Transaction Does Not Exist",
  482: "Loop Detected",
  483: "Too Many Hops",
  489: "Bad Event",
  500: "Server Internal Error",
  501: "Not Implemented",
  503: "Service Unavailable",
  505: "Version Not Supported"
}

const mostVias = 50

/** Undefined when the request lacks what an answer is made of. */
export const bareReply = (
  request: string,
  status: number,
  extraHeaders: ReadonlyArray<string> = []
): string | undefined => {
  const head = headOf(request).replace(/\r\n[ \t]+/g, " ")
  const vias = head.match(/^(?:via|v)[ \t]*:.*$/gim)?.slice(0, mostVias) ?? []
  const from = headerIn(head, "from", "f")
  const to = headerIn(head, "to", "t")
  const callId = headerIn(head, "call-id", "i")
  const cseq = headerIn(head, "cseq")
  if (vias.length === 0 || from === undefined || to === undefined || callId === undefined || cseq === undefined) {
    return undefined
  }
  const tagged = status === 100 || /;\s*tag\s*=/i.test(to) ? to : `${to};tag=${tagOf(callId, vias[0] ?? "")}`
  return [
    `SIP/2.0 ${status} ${reasons[status] ?? "Refused"}`,
    ...vias.map((via) => via.trimEnd()),
    `From: ${from}`,
    `To: ${tagged}`,
    `Call-ID: ${callId}`,
    `CSeq: ${cseq}`,
    ...extraHeaders,
    "Content-Length: 0",
    "",
    ""
  ].join("\r\n")
}

const tagOf = (callId: string, via: string): string =>
  createHash("sha256").update(`${callId} ${via}`).digest("hex").slice(0, 16)
