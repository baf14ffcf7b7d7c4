// SIP messages out of a stream of bytes (RFC 3261, 18.3): a head up to the empty line, then as many bytes as
// Content-Length says. Pure but for what it holds. A stream that is no SIP, or asks for too much, is not read on.
import { headersIn } from "./text.ts"

/** What a stream said next. */
export type Framed =
  | { readonly kind: "message"; readonly text: string }
  /** Two empty lines: the far side asks whether we are there (RFC 5626, 4.4.1). */
  | { readonly kind: "ping" }
  /** Nothing sensible can follow. */
  | { readonly kind: "broken"; readonly why: string }

/** Of head and body. */
const mostMessageBytes = 65_536
const mostHeadBytes = 32_768

/** The messages of one stream. */
export class Framing {
  #held: Buffer = Buffer.alloc(0)
  #broken = false

  push(bytes: Buffer): ReadonlyArray<Framed> {
    if (this.#broken) return []
    this.#held = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes])
    const out: Array<Framed> = []
    for (;;) {
      const one = this.#next()
      if (one === undefined) return out
      out.push(one)
      if (one.kind === "broken") {
        this.#broken = true
        this.#held = Buffer.alloc(0)
        return out
      }
    }
  }

  #next(): Framed | undefined {
    if (this.#held.subarray(0, 4).equals(ping)) {
      this.#held = this.#held.subarray(4)
      return { kind: "ping" }
    }
    // Empty lines before a message mean nothing (RFC 3261, 7.5); one may be half of a ping.
    while (this.#held.length > 4 && this.#held[0] === 0x0d && this.#held[1] === 0x0a && !this.#isPing()) {
      this.#held = this.#held.subarray(2)
    }
    const end = this.#held.indexOf("\r\n\r\n")
    if (end < 0) {
      return this.#held.length > mostHeadBytes ? { kind: "broken", why: "a head without an end" } : undefined
    }
    const length = contentLength(this.#held.toString("latin1", 0, end))
    if (length === undefined) return { kind: "broken", why: "no Content-Length" }
    const whole = end + 4 + length
    if (whole > mostMessageBytes) return { kind: "broken", why: "too long" }
    if (this.#held.length < whole) return undefined
    const text = this.#held.toString("utf8", 0, whole)
    this.#held = this.#held.subarray(whole)
    return { kind: "message", text }
  }

  #isPing(): boolean {
    return this.#held.subarray(0, 4).equals(ping)
  }
}

const ping = Buffer.from("\r\n\r\n")

/** Undefined when it is missing, no number, or two: where the next message begins nobody knows. */
const contentLength = (head: string): number | undefined => {
  const found = new Set(headersIn(`${head}\r\n`, "content-length", "l"))
  const [one = ""] = found
  return found.size === 1 && /^\d{1,7}$/.test(one) ? Number(one) : undefined
}
