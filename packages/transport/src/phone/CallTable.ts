// The calls of a door by their Call-ID, and where their messages go. A finished call stays for a while: what it is asked
// again it answers again (RFC 3261, 17.2). Only who knows a call's tags belongs to it.
import { type IncomingRequestMessage, IncomingResponseMessage } from "sip.js/lib/core/index.js"
import type { Flow } from "../sip/Flow.ts"
import type { SipCore } from "../sip/SipCore.ts"
import type { SipSession } from "../sip/SipSession.ts"
import type { SwitchingFlow } from "../sip/SwitchingFlow.ts"
import type { Waits } from "../sip/waits.ts"

export interface Live {
  readonly sip: SipCore
  readonly flow: SwitchingFlow
  session: SipSession | undefined
  over: boolean
  /** The door closes: the far side is told, and whoever holds the leg. */
  hangUp: () => void
}

type Message = IncomingRequestMessage | IncomingResponseMessage

export class CallTable {
  readonly #calls = new Map<string, Live>()
  readonly #lingering = new Set<NodeJS.Timeout>()
  readonly #waits: Pick<Waits, "lingerMs">
  #live = 0

  constructor(waits: Pick<Waits, "lingerMs">) {
    this.#waits = waits
  }

  /** Finished ones too. */
  get size(): number {
    return this.#calls.size
  }

  /** Up or ringing. */
  get liveCount(): number {
    return this.#live
  }

  /** Calls that are up or ringing. */
  live(): ReadonlyArray<Live> {
    return [...this.#calls.values()].filter((call) => !call.over)
  }

  get(callId: string): Live | undefined {
    return this.#calls.get(callId)
  }

  /** A finished call of the same name makes room. */
  add(callId: string, live: Live): void {
    this.#calls.get(callId)?.sip.close()
    this.#calls.set(callId, live)
    this.#live++
  }

  finish(callId: string, live: Live): void {
    if (live.over) return
    live.over = true
    this.#live--
    const { reliable, unreliable } = this.#waits.lingerMs
    const timer = setTimeout(
      () => {
        this.#lingering.delete(timer)
        live.sip.close()
        live.flow.close()
        if (this.#calls.get(callId) === live) this.#calls.delete(callId)
      },
      live.flow.reliable ? reliable : unreliable
    )
    timer.unref()
    this.#lingering.add(timer)
  }

  close(): void {
    for (const timer of this.#lingering) clearTimeout(timer)
    this.#lingering.clear()
    for (const call of this.#calls.values()) {
      call.sip.close()
      call.flow.close()
    }
    this.#calls.clear()
  }
}

/** What of a call a message is; a stranger may know a Call-ID, but not the tags and branches. */
export const placeIn = ({ sip: { core } }: Live, message: Message): "dialog" | "transaction" | "none" => {
  if (message instanceof IncomingResponseMessage) {
    return core.userAgentClients.has(`${message.viaBranch}${message.method}`) ? "transaction" : "none"
  }
  if (message.toTag && core.dialogs.has(`${message.callId}${message.toTag}${message.fromTag}`)) return "dialog"
  return core.userAgentServers.has(message.viaBranch) ? "transaction" : "none"
}

/** Hands a message to its call, whose flow goes along to where a member of it speaks from now. */
export const hand = (call: Live, message: Message, text: string, flow: Flow): void => {
  const place = placeIn(call, message)
  if (place !== "none") call.flow.follow(flow)
  if (!(message instanceof IncomingResponseMessage) && message.method === "UPDATE" && place === "dialog") {
    call.sip.saw(text)
    if (call.session !== undefined) return void call.session.updated(message)
    // No answer to the first offer yet (RFC 3311, 5.2).
    return void call.sip.core.replyStateless(message, { statusCode: 500, extraHeaders: ["Retry-After: 2"] })
  }
  call.sip.receive(message, text)
}
