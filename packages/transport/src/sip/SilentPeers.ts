// Peers that were asked for a password and did not answer. Where a number's imports differ, some by password and some by
// address alone, a call without a password is challenged first, so that nobody takes the calls of who has one by naming
// the carrier's addresses; a carrier that has none is let in by its address from its next call on. Bounded.

const most = 10_000

/** Which peers are to be let in by their address alone. */
export class SilentPeers {
  /** The call that was challenged first and has not been answered, by peer. */
  readonly #unanswered = new Map<string, string>()
  /** Those that answered right once: they are always asked. */
  readonly #speaking = new Set<string>()

  /** A call without credentials: whether its peer has left the challenge of another call unanswered. */
  ask(peer: string, callId: string): boolean {
    if (this.#speaking.has(peer)) return false
    const first = this.#unanswered.get(peer)
    if (first !== undefined) return first !== callId
    if (this.#unanswered.size >= most) this.#unanswered.clear()
    this.#unanswered.set(peer, callId)
    return false
  }

  /** It answered right. */
  spoke(peer: string): void {
    this.#unanswered.delete(peer)
    if (this.#speaking.size >= most) this.#speaking.clear()
    this.#speaking.add(peer)
  }
}
