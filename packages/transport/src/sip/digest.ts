// Digest authentication both ways (RFC 3261, 22; RFC 7616, RFC 8760): MD5 and SHA-256, qop auth and none. Challenges
// carry their own time under a seal, so nothing is kept for who never answers; a nonce works for a minute, and each
// count of it once.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import { type DigestAlgorithm, readDigest, responseTo } from "./digestFields.ts"

/** Answers one far side's challenges. */
export class DigestClient {
  readonly #username: string
  readonly #password: string
  #nonce = ""
  #count = 0

  constructor(username: string, password: string) {
    this.#username = username
    this.#password = password
  }

  /** The header's value; undefined when the challenge asks for what we do not speak. */
  answer(method: string, uri: string, challenge: Readonly<Record<string, unknown>>): string | undefined {
    const text = (name: string): string => (typeof challenge[name] === "string" ? (challenge[name] as string) : "")
    const named = text("algorithm").toUpperCase() || "MD5"
    if (named !== "MD5" && named !== "SHA-256") return undefined
    const offered = [challenge["qop"] ?? []].flat().join(",")
    const qop = offered === "" ? undefined : ("auth" as const)
    if (qop !== undefined && !/(^|[\s,"])auth($|[\s,"])/.test(offered)) return undefined
    const [realm, nonce] = [text("realm"), text("nonce")]
    if (nonce === "") return undefined
    this.#count = nonce === this.#nonce ? this.#count + 1 : 1
    this.#nonce = nonce
    const nc = this.#count.toString(16).padStart(8, "0")
    const cnonce = randomBytes(8).toString("hex")
    const credentials = { username: this.#username, password: this.#password }
    const response = responseTo(credentials, method, { algorithm: named, cnonce, nc, nonce, qop, realm, uri })
    return [
      `Digest username="${this.#username}"`,
      `realm="${realm}"`,
      `nonce="${nonce}"`,
      `uri="${uri}"`,
      `response="${response}"`,
      `algorithm=${named}`,
      ...(text("opaque") === "" ? [] : [`opaque="${text("opaque")}"`]),
      ...(qop === undefined ? [] : [`qop=${qop}`, `cnonce="${cnonce}"`, `nc=${nc}`])
    ].join(", ")
  }
}

const nonceMs = 60_000
const mostNonces = 10_000

/** `stale`: right, but with a nonce that is too old or was used: to be asked again. */
export type Verdict = "good" | "wrong" | "stale" | "missing"

/** Challenges whoever calls us, and judges the answers. */
export class DigestServer {
  readonly #realm: string
  readonly #seal = randomBytes(32)
  readonly #nowMs: () => number
  /** The highest count seen of each nonce that was answered. */
  readonly #counts = new Map<string, number>()

  constructor(realm: string, nowMs: () => number = Date.now) {
    this.#realm = realm
    this.#nowMs = nowMs
  }

  /** One `WWW-Authenticate` line for each algorithm, the stronger first (RFC 8760, 2.3). */
  challenge(stale: boolean, algorithms: ReadonlyArray<DigestAlgorithm> = ["SHA-256", "MD5"]): ReadonlyArray<string> {
    const nonce = this.#nonce()
    return algorithms.map(
      (algorithm) =>
        `WWW-Authenticate: Digest realm="${this.#realm}", nonce="${nonce}", algorithm=${algorithm}, qop="auth"${stale ? ", stale=true" : ""}`
    )
  }

  verify(
    header: string | undefined,
    method: string,
    expected: { readonly username: string; readonly password: string }
  ): Verdict {
    if (header === undefined) return "missing"
    const given = readDigest(header)
    const algorithm = (given["algorithm"] ?? "MD5").toUpperCase()
    if (algorithm !== "MD5" && algorithm !== "SHA-256") return "wrong"
    const { cnonce = "", nc = "", nonce = "", qop, response = "", uri = "" } = given
    if (given["realm"] !== this.#realm || (qop !== undefined && qop !== "auth")) return "wrong"
    const age = this.#ageOf(nonce)
    // Not of ours, or of ours before a restart: asked again.
    if (age === undefined || age > nonceMs) return "stale"
    const right = responseTo(expected, method, {
      algorithm,
      cnonce,
      nc,
      nonce,
      qop: qop === undefined ? undefined : "auth",
      realm: this.#realm,
      uri
    })
    if (!same(right, response.toLowerCase()) || given["username"] !== expected.username) return "wrong"
    const count = qop === undefined ? 1 : Number.parseInt(nc, 16)
    // The same answer again is somebody who listened.
    if (!(count > (this.#counts.get(nonce) ?? 0))) return "stale"
    this.#remember(nonce, count)
    return "good"
  }

  #nonce(): string {
    const time = Math.floor(this.#nowMs()).toString(36)
    const salt = randomBytes(6).toString("hex")
    return `${time}.${salt}.${this.#sealOf(`${time}.${salt}`)}`
  }

  #ageOf(nonce: string): number | undefined {
    const [time = "", salt = "", seal = ""] = nonce.split(".")
    if (!same(this.#sealOf(`${time}.${salt}`), seal)) return undefined
    return this.#nowMs() - Number.parseInt(time, 36)
  }

  #sealOf(text: string): string {
    return createHmac("sha256", this.#seal).update(text).digest("hex").slice(0, 32)
  }

  #remember(nonce: string, count: number): void {
    if (this.#counts.size >= mostNonces) {
      for (const known of this.#counts.keys()) {
        if ((this.#ageOf(known) ?? nonceMs + 1) > nonceMs) this.#counts.delete(known)
      }
      if (this.#counts.size >= mostNonces) this.#counts.clear()
    }
    this.#counts.set(nonce, count)
  }
}

const same = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
