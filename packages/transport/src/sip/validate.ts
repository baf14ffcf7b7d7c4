// What a request without a call deserves, before anything is kept of it (RFC 3261, 8.2). Pure.
import { bodyFault } from "./body.ts"
import { headerIn, headersIn, headOf, type PeekedHeaders } from "./text.ts"

/** What is to be done with a request outside of a call. */
export type Judgement =
  | { readonly act: "drop" }
  | { readonly act: "reply"; readonly status: number; readonly headers: ReadonlyArray<string> }
  /** A new call. */
  | { readonly act: "invite" }

const methods = ["INVITE", "ACK", "CANCEL", "BYE", "OPTIONS", "INFO", "NOTIFY", "PRACK", "REFER", "UPDATE"]
const known = new Set([...methods, "REGISTER", "SUBSCRIBE", "MESSAGE", "PUBLISH"])
const allow = `Allow: ${methods.join(", ")}`
/** Option tags we understand where a request requires them. */
const understood = new Set(["100rel", "timer"])

/** What a message has once (RFC 3261, 7.3.1). */
const single: ReadonlyArray<readonly [name: string, short?: string]> = [
  ["from", "f"],
  ["to", "t"],
  ["call-id", "i"],
  ["cseq"],
  ["max-forwards"]
]

/** A URI of any scheme, in brackets after a name or bare (RFC 3261, 20.10): more than punctuation. */
const isAddress = (value = ""): boolean => {
  const unnamed = value.replace(/^"(?:[^"\\]|\\.)*"/, "")
  const uri = unnamed.slice(unnamed.indexOf("<") + 1).trimStart()
  return /[a-z0-9]/i.test(/^[a-z][a-z0-9+.-]*:([^\s<>]*)/i.exec(uri)?.[1] ?? "")
}

/** A protocol, a transport and a host (RFC 3261, 20.42). */
const isVia = (value = ""): boolean =>
  /^SIP[ \t]*\/[ \t]*2\.0[ \t]*\/[ \t]*[a-z][a-z0-9-]*[ \t]+(?:[a-z0-9]|\[[0-9a-f:.]+\])/i.test(value)

const reply = (status: number, ...headers: ReadonlyArray<string>): Judgement => ({ act: "reply", status, headers })

/** What is wrong with a request wherever it belongs; undefined for nothing. An ACK is never answered. */
export const faultIn = (text: string, seen: PeekedHeaders): Judgement | undefined => {
  const head = headOf(text)
  const method = seen.method ?? ""
  if (method === "ACK") return undefined
  if (seen.callId === "" || seen.branch === "" || seen.cseqMethod === "") return reply(400)
  if (seen.cseqMethod !== method || seen.cseq >= 2 ** 31) return reply(400)
  if (!isAddress(headerIn(head, "from", "f")) || !isAddress(headerIn(head, "to", "t"))) return reply(400)
  if (!isVia(headerIn(head, "via", "v"))) return reply(400)
  if (single.some(([name, short]) => headersIn(head, name, short).length > 1)) return reply(400)
  if (!known.has(method)) return reply(501, allow)
  const scheme = /^\S+ ([a-z][a-z0-9+.-]*):/i.exec(head)?.[1]?.toLowerCase()
  if (scheme === undefined) return reply(400)
  if (scheme !== "sip" && scheme !== "sips" && scheme !== "tel") return reply(416)
  // Headers in the address asked for are not allowed there (RFC 3261, 19.1.1).
  if (/^\S+ sips?:(?:[^@\s]*@)?[^@?\s]*\?[^@\s]* SIP/i.test(head)) return reply(400)
  const hops = headerIn(head, "max-forwards")
  if (hops !== undefined && !/^\d{1,6}$/.test(hops)) return reply(400)
  if (hops !== undefined && Number(hops) === 0 && method !== "OPTIONS") return reply(483)
  const strange = (head.match(/^require[ \t]*:.*$/gim) ?? [])
    .flatMap((line) => line.slice(line.indexOf(":") + 1).split(","))
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "" && !understood.has(tag.toLowerCase()))
  if (strange.length > 0 && method !== "CANCEL") return reply(420, `Unsupported: ${strange.join(", ")}`)
  const body = bodyFault(text, method)
  return body === undefined ? undefined : reply(body.status, ...body.headers)
}

/** The answer to a request outside of a call: a status, nothing, or that it begins a call. */
export const validate = (text: string, seen: PeekedHeaders): Judgement => {
  const method = seen.method ?? ""
  if (method === "ACK") return { act: "drop" }
  const fault = faultIn(text, seen)
  if (fault !== undefined) return fault
  const head = headOf(text)
  const inDialog = /;\s*tag\s*=/i.test(headerIn(head, "to", "t") ?? "")
  if (inDialog || method === "CANCEL" || method === "BYE" || method === "PRACK" || method === "UPDATE")
    return reply(481)
  switch (method) {
    case "INVITE":
      return { act: "invite" }
    case "OPTIONS":
      return reply(200, allow, "Accept: application/sdp", "Supported: timer, 100rel")
    case "REFER":
    case "REGISTER":
      return reply(403)
    case "SUBSCRIBE":
      return reply(489)
    default:
      return reply(405, allow)
  }
}
