// What must be known of a message before it is parsed, and what is normalise on the way. All on text, all pure: untrusted
// bytes meet nothing that throws.
import { createHash } from "node:crypto"

/** What routing a message needs, read without a parser. */
export interface PeekedHeaders {
  /** Undefined for a response. */
  readonly method: string | undefined
  /** Undefined for a request. */
  readonly status: number | undefined
  readonly callId: string
  /** Of the topmost Via. */
  readonly branch: string
  readonly cseq: number
  /** After the number in CSeq. */
  readonly cseqMethod: string
}

const startLine = /^(?:SIP\/2\.0 (\d{3})(?: [^\r\n]*)?|([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) (\S+) SIP\/2\.0)\r\n/i

/** Undefined for what is no SIP message. */
export const peekHeaders = (text: string): PeekedHeaders | undefined => {
  const start = startLine.exec(text)
  if (start === null) return undefined
  const head = headOf(text)
  const [, number = "", cseqMethod = ""] = /^0*(\d{1,10})\s+(\S+)/.exec(headerIn(head, "cseq") ?? "") ?? []
  return {
    method: start[2],
    status: start[1] === undefined ? undefined : Number(start[1]),
    callId: headerIn(head, "call-id", "i") ?? "",
    branch: /;\s*branch\s*=\s*([^;,\s]+)/i.exec(headerIn(head, "via", "v") ?? "")?.[1] ?? "",
    cseq: Number(number),
    cseqMethod
  }
}

/** From the start line to the end of the last header. */
export const headOf = (text: string): string => {
  const end = text.indexOf("\r\n\r\n")
  return end < 0 ? text : text.slice(0, end + 2)
}

/** The first header of this name, or of its short form. */
export const headerIn = (head: string, name: string, short?: string): string | undefined =>
  new RegExp(lineOf(name, short), "im").exec(head)?.[1]?.trim()

/** All of them, line by line. */
export const headersIn = (head: string, name: string, short?: string): ReadonlyArray<string> =>
  [...head.matchAll(new RegExp(lineOf(name, short), "gim"))].map(([, value = ""]) => value.trim())

/** No two parts of it may match the same spaces: a line of them would take for ever. */
const lineOf = (name: string, short: string | undefined): string =>
  `^${short === undefined ? name : `(?:${name}|${short})`}[ \\t]*:(.*)$`

/** Folded lines of the head become one (RFC 3261, 7.3.1). */
export const unfolded = (text: string): string => {
  const end = text.indexOf("\r\n\r\n")
  const [head, rest] = end < 0 ? [text, ""] : [text.slice(0, end), text.slice(end)]
  return head.replace(/\r\n[ \t]+/g, " ") + rest
}

/**
 * Folded lines become one (RFC 3261, 7.3.1), the scheme of secure and telephone addresses in the request line becomes
 * `sip`, and the body is cut at Content-Length. Undefined when the body is shorter than that, or nobody can say, and
 * when a line ends otherwise than by CRLF: where one header ends and the next begins, two readers would disagree.
 */
export const normalise = (text: string): string | undefined => {
  const end = text.indexOf("\r\n\r\n")
  if (end < 0) return undefined
  const head = text.slice(0, end + 2).replace(/\r\n[ \t]+/g, " ")
  if (strayLineEnd.test(head)) return undefined
  const body = text.slice(end + 4)
  const lengths = new Set(headersIn(head, "content-length", "l"))
  const [length] = lengths
  if (lengths.size > 1 || (length !== undefined && !/^\d{1,7}$/.test(length))) return undefined
  const bytes = Buffer.from(body)
  if (length !== undefined && bytes.length < Number(length)) return undefined
  const cut = length === undefined ? body : bytes.toString("utf8", 0, Number(length))
  return `${plainTarget(head)}\r\n${cut}`
}

/** Half of a CRLF, and what regular expressions take for the end of a line besides. */
const strayLineEnd = /[\u2028\u2029]|\r(?!\n)|(?<!\r)\n/

/** `INVITE sips:a@b` and `INVITE tel:+1-555` as sip.js takes them. */
const plainTarget = (head: string): string =>
  head
    .replace(/^(\S+) sips:/i, "$1 sip:")
    .replace(/^(\S+) tel:([^;\s]+)(?:;\S*)? /i, (_, method: string, number: string) => {
      return `${method} sip:${number.replace(/[-.() ]/g, "")}@invalid `
    })

/** The topmost Via says where the message really came from (RFC 3261, 18.2.1; RFC 3581, 4). */
export const addReceived = (text: string, from: { readonly address: string; readonly port: number }): string =>
  text.replace(/^(via|v)([ \t]*:[ \t]*)([^,\r\n]+)/im, (_, name: string, colon: string, via: string) => {
    const host = from.address.includes(":") ? `[${from.address}]` : from.address
    const plain = via.replace(/;\s*received\s*=\s*[^;]*/i, "")
    const ported = plain.replace(/;\s*rport(?:\s*=\s*\d*)?(?=[;\s]|$)/i, `;rport=${from.port}`)
    return `${name}${colon}${ported.trimEnd()};received=${host}`
  })

/** A request of RFC 2543 has no branch: made of what then told transactions apart (RFC 3261, 17.2.3). */
export const addBranch = (text: string): string => {
  const head = headOf(text)
  const via = headerIn(head, "via", "v")
  if (via === undefined || /^[^,]*;\s*branch\s*=\s*[^;,\s]/i.test(via)) return text
  const known = [
    via,
    headerIn(head, "from", "f"),
    headerIn(head, "call-id", "i"),
    headerIn(head, "cseq")?.split(/\s/)[0]
  ]
  const name = createHash("sha256").update(known.join("\n")).digest("hex").slice(0, 24)
  return text.replace(/^(via|v)([ \t]*:[ \t]*[^,;\r\n]+)/im, `$1$2;branch=z9hG4bK2543${name}`)
}

/** Where a request of ours is to go next: its first route, else its target. */
export const nextHop = (text: string): { readonly host: string; readonly port: number } | undefined => {
  const head = headOf(text)
  const route = headerIn(head, "route")
  const uri = route ?? /^\S+ (\S+) SIP/i.exec(head)?.[1] ?? ""
  const found = /sips?:(?:[^@>\s]*@)?(\[[0-9a-f:.]+\]|[^:;>\s?]+)(?::(\d{1,5}))?/i.exec(uri)
  if (found === null) return undefined
  return { host: (found[1] ?? "").replace(/^\[|\]$/g, ""), port: Number(found[2] ?? 5060) }
}

/** The user part of the first address in a header, unescaped. */
export const userOf = (header: string): string => {
  const user = /sips?:([^@:<>"\s]*)(?::[^@<>"\s]*)?@/i.exec(header)?.[1] ?? /tel:([^>;?\s]*)/i.exec(header)?.[1] ?? ""
  try {
    return decodeURIComponent(user)
  } catch {
    return user
  }
}
