// Which session a sipTrace belongs to: the door tells of a call that came to nothing by its Call-ID, before or after the
// session is known by it. What never meets is forgotten, oldest first.
import type { SipTraceLine } from "@parley/transport/phone/Phone"

const most = 1000

export class CallTraces {
  readonly #told = new Map<string, ReadonlyArray<SipTraceLine>>()
  readonly #sessions = new Map<string, string>()
  readonly #keep: (sessionId: string, sipTrace: ReadonlyArray<SipTraceLine>) => void

  constructor(keep: (sessionId: string, sipTrace: ReadonlyArray<SipTraceLine>) => void) {
    this.#keep = keep
  }

  tell(callId: string, sipTrace: ReadonlyArray<SipTraceLine>): void {
    const sessionId = this.#sessions.get(callId)
    this.#sessions.delete(callId)
    if (sessionId === undefined) remember(this.#told, callId, sipTrace)
    else this.#keep(sessionId, sipTrace)
  }

  belongs(callId: string, sessionId: string): void {
    const sipTrace = this.#told.get(callId)
    this.#told.delete(callId)
    if (sipTrace === undefined) remember(this.#sessions, callId, sessionId)
    else this.#keep(sessionId, sipTrace)
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
