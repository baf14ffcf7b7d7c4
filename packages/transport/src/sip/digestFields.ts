// The fields of a digest as the headers carry them, and the `response` that is computed from them (RFC 7616, 3.4).
import { createHash } from "node:crypto"

/** As the headers write them. */
export type DigestAlgorithm = "MD5" | "SHA-256"

/** The fields of RFC 7616, 3.4. */
interface DigestFields {
  readonly username: string
  readonly realm: string
  readonly nonce: string
  readonly uri: string
  readonly response: string
  readonly algorithm: DigestAlgorithm
  readonly qop: "auth" | undefined
  readonly nc: string
  readonly cnonce: string
  readonly opaque: string
}

const hash = (algorithm: DigestAlgorithm, text: string): string =>
  createHash(algorithm === "MD5" ? "md5" : "sha256")
    .update(text)
    .digest("hex")

/** Values with or without quotes; the first of a name counts. */
export const readDigest = (header: string): Readonly<Record<string, string>> => {
  const fields: Record<string, string> = {}
  for (const [, name = "", quoted, plain] of header
    .replace(/^\s*Digest\s+/i, "")
    .matchAll(/([A-Za-z-]{1,32})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g)) {
    fields[name.toLowerCase()] ??= quoted?.replace(/\\(.)/g, "$1") ?? plain ?? ""
  }
  return fields
}

/** The `response` of RFC 7616, 3.4.1, in lower-case hex. */
export const responseTo = (
  credentials: { readonly username: string; readonly password: string },
  method: string,
  { algorithm, cnonce, nc, nonce, qop, realm, uri }: Omit<DigestFields, "response" | "username" | "opaque">
): string => {
  const secret = hash(algorithm, `${credentials.username}:${realm}:${credentials.password}`)
  const request = hash(algorithm, `${method}:${uri}`)
  return hash(
    algorithm,
    qop === undefined ? `${secret}:${nonce}:${request}` : `${secret}:${nonce}:${nc}:${cnonce}:${qop}:${request}`
  )
}
