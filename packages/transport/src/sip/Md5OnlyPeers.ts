// Peers that know MD5 alone. Some give up at the sight of another algorithm, even where MD5 stands beside it (libre
// before 2.0): an address that calls again without having answered a challenge gets one with MD5 only. Bounded.

const most = 10_000

/** Which addresses are to be asked for MD5 alone. */
export class Md5OnlyPeers {
  /** The call that was challenged first and has not been answered, by address. */
  readonly #unanswered = new Map<string, string>()

  /** A call without credentials: whether it is to be asked for MD5 alone. */
  ask(address: string, callId: string): boolean {
    const first = this.#unanswered.get(address)
    if (first !== undefined) return first !== callId
    if (this.#unanswered.size >= most) this.#unanswered.clear()
    this.#unanswered.set(address, callId)
    return false
  }

  /** It can do better. */
  delete(address: string): void {
    this.#unanswered.delete(address)
  }
}
