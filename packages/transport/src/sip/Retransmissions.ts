// Sends again what may have been lost on UDP (RFC 3261, 17): timer A for INVITE, E for other requests, G for final
// answers to INVITE other than 2xx; sip.js assumes a transport that delivers and has none of these. What is sent again
// stops with its answer, or after 32 s.
import { peekHeaders } from "./text.ts"

const firstMs = 500
const longestMs = 4_000
const giveUpMs = 32_000

interface Repeat {
  readonly text: string
  readonly startedMs: number
  waitMs: number
  timer: NodeJS.Timeout
}

/** The retransmissions of one call on UDP. */
export class Retransmissions {
  readonly #send: (text: string) => void
  readonly #repeats = new Map<string, Repeat>()

  constructor(send: (text: string) => void) {
    this.#send = send
  }

  /** Something of ours is about to leave for the first time. */
  sent(text: string): void {
    const seen = peekHeaders(text)
    if (seen === undefined || seen.branch === "") return
    if (seen.method !== undefined) {
      if (seen.method !== "ACK") this.#begin(`${seen.branch} ${seen.method}`, text, seen.method !== "INVITE")
      return
    }
    if (seen.cseqMethod === "INVITE" && (seen.status ?? 0) >= 300) this.#begin(`${seen.branch} final`, text, true)
  }

  /** Something came: what it answers is not sent again. */
  came(text: string): void {
    const seen = peekHeaders(text)
    if (seen === undefined) return
    if (seen.status !== undefined) this.#end(`${seen.branch} ${seen.cseqMethod}`)
    else if (seen.method === "ACK") this.#end(`${seen.branch} final`)
  }

  close(): void {
    for (const key of this.#repeats.keys()) this.#end(key)
  }

  #begin(key: string, text: string, capped: boolean): void {
    this.#end(key)
    const repeat: Repeat = { text, startedMs: performance.now(), waitMs: firstMs, timer: setTimeout(again, firstMs) }
    const repeats = this.#repeats
    const send = this.#send
    repeats.set(key, repeat)
    function again(): void {
      if (performance.now() - repeat.startedMs > giveUpMs) return void repeats.delete(key)
      send(text)
      repeat.waitMs = capped ? Math.min(longestMs, repeat.waitMs * 2) : repeat.waitMs * 2
      repeat.timer = setTimeout(again, repeat.waitMs)
    }
  }

  #end(key: string): void {
    const repeat = this.#repeats.get(key)
    if (repeat === undefined) return
    clearTimeout(repeat.timer)
    this.#repeats.delete(key)
  }
}
