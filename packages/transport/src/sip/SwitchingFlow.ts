// The flow of a call that may change under it: a far side that connects anew, or whose NAT gave it another port.
import type { Flow } from "./Flow.ts"

/** A flow that follows its far side. */
export class SwitchingFlow implements Flow {
  #current: Flow
  readonly #own: (() => void) | undefined

  constructor(first: Flow) {
    this.#current = first
    this.#own = first.close
  }

  /** What was opened for this call alone. */
  readonly close = (): void => this.#own?.()

  get transport() {
    return this.#current.transport
  }

  get remote() {
    return this.#current.remote
  }

  get reliable() {
    return this.#current.reliable
  }

  get sendTo() {
    return this.#current.sendTo
  }

  readonly send = (text: string): void => this.#current.send(text)

  /** Answers and requests go where the last message came from; a connection does not become a datagram. */
  follow(flow: Flow): void {
    if (flow.transport === this.#current.transport) this.#current = flow
  }
}
