// What a message carries, judged before anything is made of it (RFC 3261, 7.4 and 20.11 to 20.15; RFC 5621). sip.js throws
// in the middle of its work at a body it cannot name, and leaves a dialog half made: what reaches it carries one session
// description under its plain name, or nothing. Pure.
import { headersIn, headOf, type PeekedHeaders } from "./text.ts"

/** The body of a message that belongs to an offer or an answer. */
export type Body =
  | { readonly kind: "none" }
  /** A session description, whole or found in a multipart body. */
  | { readonly kind: "session"; readonly content: string }
  | { readonly kind: "unreadable"; readonly status: 400 | 415; readonly headers: ReadonlyArray<string> }

const none: Body = { kind: "none" }
const malformed: Body = { kind: "unreadable", status: 400, headers: [] }
const unknown: Body = { kind: "unreadable", status: 415, headers: ["Accept: application/sdp"] }
const encoded: Body = { kind: "unreadable", status: 415, headers: ["Accept-Encoding: identity"] }

/** Requests that may bring a session description and are answered. */
const offering = new Set(["INVITE", "UPDATE", "PRACK"])

/** What is wrong with the body of a request where a session description belongs; undefined for nothing. */
export const bodyFault = (text: string, method: string): Extract<Body, { kind: "unreadable" }> | undefined => {
  const body = offering.has(method) ? readBody(text) : none
  return body.kind === "unreadable" ? body : undefined
}

/**
 * The message with its session description under the one name sip.js reads, or with no body where nobody can be told
 * that it is unreadable (an ACK, a response). Requests with a fault are left as they are; so are those without offers.
 */
export const plainBody = (text: string, { method }: Pick<PeekedHeaders, "method">): string => {
  if (method !== undefined && method !== "ACK" && !offering.has(method)) return text
  const body = readBody(text)
  if (body.kind === "session") return withContent(text, body.content)
  if (body.kind === "none" || method === undefined || method === "ACK") return withContent(text, "")
  return text
}

/** Reads the entity headers and the body. Content-Length was held to before. */
const readBody = (text: string): Body => {
  const head = headOf(text)
  const content = text.slice(head.length + 2)
  if (content === "") return none
  return readEntity(head, content, true)
}

/** @param whole No part of a multipart body: such parts are not searched for further parts. */
const readEntity = (head: string, content: string, whole: boolean): Body => {
  const types = headersIn(head, "content-type", "c")
  const type = mediaType(types[0] ?? "")
  if (types.length !== 1 || type === undefined || content.trim() === "") return malformed
  const codings = headersIn(head, "content-encoding", "e").filter((coding) => !/^identity$/i.test(coding))
  if (codings.length > 0) return encoded
  const dispositions = headersIn(head, "content-disposition")
  const disposition = /^([!#$%&'*+.^_`|~0-9a-z-]+)[ \t]*(;.*)?$/i.exec(dispositions[0] ?? "session")
  if (dispositions.length > 1 || disposition === null) return malformed
  const isSession = disposition[1]?.toLowerCase() === "session"
  // What is not required may be overlooked (RFC 3261, 20.11).
  const isOptional = /;\s*handling\s*=\s*optional/i.test(disposition[2] ?? "")
  if (type.name === "application/sdp" && isSession) return { kind: "session", content }
  if (whole && type.name.startsWith("multipart/") && type.boundary !== undefined)
    return sessionIn(content, type.boundary)
  return isOptional ? none : unknown
}

const mostParts = 20

/** The first session description among the parts (RFC 2046, 5.1). */
const sessionIn = (content: string, boundary: string): Body => {
  const parts = `\r\n${content}`.split(`\r\n--${boundary}`, mostParts).slice(1)
  for (const part of parts) {
    // A part begins after the line end of its boundary; `--` there is the end of them all.
    const entity = /^[ \t]*\r\n([^]*)$/.exec(part)?.[1]
    if (entity === undefined) break
    const head = headOf(entity)
    const found = readEntity(head, `${entity.slice(head.length + 2)}\r\n`, false)
    if (found.kind === "session") return found
  }
  return unknown
}

interface MediaType {
  /** Lower case. */
  readonly name: string
  readonly boundary: string | undefined
}

const mediaType = (value: string): MediaType | undefined => {
  const [, name, parameters = ""] =
    /^([!#$%&'*+.^_`|~0-9a-z-]+\/[!#$%&'*+.^_`|~0-9a-z-]+)[ \t]*(;.*)?$/i.exec(value) ?? []
  if (name === undefined) return undefined
  const boundary = /;\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^;\s"]{1,70}))/i.exec(parameters)
  return { name: name.toLowerCase(), boundary: boundary?.[1] ?? boundary?.[2] }
}

const entityLines =
  /^(?:content-(?:type|encoding|disposition|language|length)|mime-version|[cel])[ \t]*:.*(?:\r\n|$)/gim

const withContent = (text: string, content: string): string => {
  const head = headOf(text)
  if (content === "" && text.length <= head.length + 2) return text
  const type = content === "" ? "" : "Content-Type: application/sdp\r\n"
  return `${head.replace(entityLines, "")}${type}Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`
}
