// Which session a ladder belongs to: the door tells of a call that came to nothing by its Call-ID, before or after the
// session is known by it. What never meets is forgotten, oldest first.
import type { LadderLine } from "@parley/transport/phone/Phone"

const most = 1000

export class Ladders {
  readonly #told = new Map<string, ReadonlyArray<LadderLine>>()
  readonly #sessions = new Map<string, string>()
  readonly #keep: (sessionId: string, ladder: ReadonlyArray<LadderLine>) => void

  constructor(keep: (sessionId: string, ladder: ReadonlyArray<LadderLine>) => void) {
    this.#keep = keep
  }

  tell(callId: string, ladder: ReadonlyArray<LadderLine>): void {
    const sessionId = this.#sessions.get(callId)
    this.#sessions.delete(callId)
    if (sessionId === undefined) remember(this.#told, callId, ladder)
    else this.#keep(sessionId, ladder)
  }

  belongs(callId: string, sessionId: string): void {
    const ladder = this.#told.get(callId)
    this.#told.delete(callId)
    if (ladder === undefined) remember(this.#sessions, callId, sessionId)
    else this.#keep(sessionId, ladder)
  }

  /** The call got a leg, which has its own. */
  forget(callId: string): void {
    this.#sessions.delete(callId)
  }
}

const remember = <A>(map: Map<string, A>, key: string, value: A): void => {
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= most) return
    map.delete(oldest)
  }
}
