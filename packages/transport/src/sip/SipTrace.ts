// What went to and fro in a call, for people: start lines and sequence, no bodies, no credentials.
import type { SipTraceLine } from "../phone/Phone.ts"
import { peekHeaders, headerIn, headOf } from "./text.ts"

const mostLines = 400

/** At most 400 lines about one call. */
export class SipTrace {
  readonly #lines: Array<SipTraceLine> = []
  readonly #beganMs = performance.now()

  message(direction: "in" | "out", text: string): void {
    const seen = peekHeaders(text)
    if (seen === undefined) return this.note("unreadable message", "")
    const what = seen.method ?? text.slice(8, text.indexOf("\r\n")).trim().slice(0, 80)
    const reason = headerIn(headOf(text), "reason") ?? headerIn(headOf(text), "warning") ?? ""
    this.#add(direction, what, [`${seen.cseq} ${seen.cseqMethod}`, reason.slice(0, 120)].filter(Boolean).join(", "))
  }

  note(what: string, detail: string): void {
    this.#add("note", what, detail)
  }

  lines(): ReadonlyArray<SipTraceLine> {
    return this.#lines
  }

  #add(direction: SipTraceLine["direction"], what: string, detail: string): void {
    if (this.#lines.length >= mostLines) return
    this.#lines.push({ atMs: Math.round(performance.now() - this.#beganMs), direction, what, detail })
  }
}
