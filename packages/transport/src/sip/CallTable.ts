// The calls of a SIP server by their Call-ID, and where their messages go. A call is in the table while its scope is open:
// it outlives its conversation by the time in which retransmissions are answered again (RFC 3261, 17.2). Only who knows
// a call's tags or branch belongs to it.
import { Deferred, Effect, type Scope } from "effect"
import { type IncomingRequestMessage, IncomingResponseMessage } from "sip.js/lib/core/index.js"
import type { SipTimings } from "../phone/Phone.ts"
import { attempt } from "./coreActs.ts"
import type { Flow } from "./Flow.ts"
import type { SipCore } from "./SipCore.ts"
import type { SipSession } from "./SipSession.ts"
import type { SwitchingFlow } from "./SwitchingFlow.ts"

/** One call as the messages of its Call-ID find it. */
export interface TableEntry {
  readonly sip: SipCore
  readonly flow: SwitchingFlow
  /** Once the INVITE was answered with 200. */
  session: SipSession | undefined
  /** Done when a new call takes the same Call-ID: this one answers nothing any more. */
  readonly replaced: Deferred.Deferred<void>
}

/** What opening a call gives: its entry, and what else it needs to talk. */
export interface Opening {
  readonly call: TableEntry
}

type Message = IncomingRequestMessage | IncomingResponseMessage

/** All calls of a server, live and lingering. */
export class CallTable {
  readonly #calls = new Map<string, TableEntry>()
  readonly #live = new Set<TableEntry>()

  /** All that answer messages, finished ones too. */
  get size(): number {
    return this.#calls.size
  }

  /** Ringing or up. */
  get liveCount(): number {
    return this.#live.size
  }

  get(callId: string): TableEntry | undefined {
    return this.#calls.get(callId)
  }

  /** Ringing or up, and not merely answering retransmissions. */
  isLive(call: TableEntry): boolean {
    return this.#live.has(call)
  }

  /** Puts the call into the table until the scope closes. A finished call of the same Call-ID makes room. */
  enter(callId: string, sip: SipCore, flow: SwitchingFlow): Effect.Effect<TableEntry, never, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.sync(() => {
        const call: TableEntry = { sip, flow, session: undefined, replaced: Deferred.makeUnsafe() }
        const before = this.#calls.get(callId)
        if (before !== undefined) {
          before.sip.close()
          Deferred.doneUnsafe(before.replaced, Effect.void)
        }
        this.#calls.set(callId, call)
        return call
      }),
      (call) =>
        Effect.sync(() => {
          if (this.#calls.get(callId) === call) this.#calls.delete(callId)
        })
    )
  }

  /** Counts the call as live until the scope closes. */
  live(call: TableEntry): Effect.Effect<void, never, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.sync(() => void this.#live.add(call)),
      () => Effect.sync(() => void this.#live.delete(call))
    )
  }
}

/**
 * One call from its first message to the last retransmission it answers. `talk` is its life: what that acquires is
 * released as soon as it ends, or its core breaks; what `open` acquires (core, flow, place in the table) after the linger
 * time. Interrupted while live (the server closes), it leaves `goodbyeMs` for its last requests to be answered.
 */
export const runCall = <A extends Opening, E>(
  calls: CallTable,
  { goodbyeMs, lingerMs }: Pick<SipTimings, "goodbyeMs" | "lingerMs">,
  open: Effect.Effect<A, E, Scope.Scope>,
  talk: (opened: A) => Effect.Effect<void, E, Scope.Scope>
): Effect.Effect<void, E> =>
  Effect.scoped(
    Effect.gen(function* () {
      const opened = yield* open
      const { call } = opened
      const life = Effect.raceFirst(talk(opened), Deferred.await(call.sip.broken))
      yield* Effect.scoped(Effect.andThen(calls.live(call), life)).pipe(
        Effect.onInterrupt(() => Effect.sleep(goodbyeMs))
      )
      yield* Effect.timeoutOption(
        Deferred.await(call.replaced),
        call.flow.reliable ? lingerMs.reliable : lingerMs.unreliable
      )
    })
  )

/** What of a call a message is; a stranger may know a Call-ID, but not the tags and branches. */
export const placeIn = ({ sip: { core } }: TableEntry, message: Message): "dialog" | "transaction" | "none" => {
  if (message instanceof IncomingResponseMessage) {
    return core.userAgentClients.has(`${message.viaBranch}${message.method}`) ? "transaction" : "none"
  }
  if (message.toTag && core.dialogs.has(`${message.callId}${message.toTag}${message.fromTag}`)) return "dialog"
  return core.userAgentServers.has(message.viaBranch) ? "transaction" : "none"
}

/** Hands a message to its call, whose flow goes along to where a member of it speaks from now. */
export const deliver = (call: TableEntry, message: Message, text: string, flow: Flow): void => {
  const place = placeIn(call, message)
  if (place !== "none") call.flow.follow(flow)
  if (!(message instanceof IncomingResponseMessage) && message.method === "UPDATE" && place === "dialog") {
    call.sip.saw(text)
    if (call.session !== undefined) return call.session.updated(message)
    // No answer to the first offer yet (RFC 3311, 5.2).
    const { core } = call.sip
    return void attempt(call.sip, () =>
      core.replyStateless(message, { statusCode: 500, extraHeaders: ["Retry-After: 2"] })
    )
  }
  call.sip.receive(message, text)
}
