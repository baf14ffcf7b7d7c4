// What comes in: messages find their call by Call-ID; what belongs to none is answered from its own lines and
// forgotten, but for an INVITE that its number's trunk admits. Untrusted bytes end here: nothing is thrown.
import { Cause, Effect, type Scope } from "effect"
import {
  type IncomingInviteRequest,
  type IncomingRequestMessage,
  IncomingResponseMessage
} from "sip.js/lib/core/index.js"
import type { InboundTrunk, SipHandlers, SipServerOptions, SipTimings } from "../phone/Phone.ts"
import { bareReply } from "./bareReply.ts"
import { plainBody } from "./body.ts"
import { callerOf } from "./caller.ts"
import { deliver, type CallTable, type Opening, placeIn, runCall, type TableEntry } from "./CallTable.ts"
import type { Flow } from "./Flow.ts"
import { incomingCall } from "./incomingCall.ts"
import type { Here, MakeMedia } from "./outbound.ts"
import { makeSipCore, parse } from "./SipCore.ts"
import { SipTrace } from "./SipTrace.ts"
import { SwitchingFlow } from "./SwitchingFlow.ts"
import {
  addBranch,
  addReceived,
  type PeekedHeaders,
  peekHeaders,
  headersIn,
  headOf,
  normalise,
  unfolded,
  userOf
} from "./text.ts"
import { TrunkAdmission } from "./TrunkAdmission.ts"
import { faultIn, validate } from "./validate.ts"

/** What the messages of a server need. */
export interface InboundOptions extends SipHandlers, Pick<SipServerOptions, "userAgent" | "mayReach"> {
  readonly calls: CallTable
  readonly timings: SipTimings
  readonly nowMs?: (() => number) | undefined
  /** Runs it until the server closes; starts it before it returns. */
  readonly run: (call: Effect.Effect<void>) => void
  readonly hereFor: (flow: Flow) => Promise<Here>
  readonly makeMedia: MakeMedia
  /** The server closes: new calls are refused. */
  readonly isClosed: () => boolean
}

/** New calls beyond this many are refused before anything is kept of them. */
const mostCalls = 5_000
/** Finished ones that still answer retransmissions with them: half a minute's worth. */
const mostKnown = 30_000
/** Messages of a call whose trunk is still being asked for. */
const mostHeld = 8

/** What came for a call whose trunk is still being asked for. */
interface Held {
  readonly cseq: number
  readonly messages: Array<readonly [text: string, flow: Flow]>
}

/** An INVITE outside of any dialog, parsed. */
interface Invitation {
  readonly text: string
  readonly flow: Flow
  readonly message: IncomingRequestMessage
  readonly dialed: string
}

/** Takes what a socket brings: a whole message, and the flow to answer on. Never throws. */
export const makeInbound = (options: InboundOptions): ((sent: string, flow: Flow) => void) => {
  const messages = new InboundMessages(options)
  return (sent, flow) => messages.onMessage(sent, flow)
}

/** Finds for each message the call it belongs to, or answers it. */
class InboundMessages {
  readonly #options: InboundOptions
  /** INVITEs whose trunk is being asked for, by Call-ID. */
  readonly #deciding = new Map<string, Held>()
  readonly #trunks: TrunkAdmission
  readonly #answer: ReturnType<typeof answering>

  constructor(options: InboundOptions) {
    this.#options = options
    this.#trunks = new TrunkAdmission(options.nowMs)
    this.#answer = answering(options.userAgent)
  }

  onMessage(sent: string, flow: Flow): void {
    try {
      this.#take(sent, flow)
    } catch (error) {
      // A message that breaks something must not take the process with it.
      this.#options.onFault?.(error)
    }
  }

  #take(sent: string, flow: Flow): void {
    const whole = unfolded(sent)
    const first = peekHeaders(whole)
    if (first === undefined) {
      // Another version of SIP is told so (RFC 3261, 21.5.6).
      const version = /^[A-Z]+ [^\r\n]* SIP\/(\d+\.\d+)[ \t]*\r\n/i.exec(whole)?.[1]
      return version === undefined ? undefined : this.#answer(whole, flow, version === "2.0" ? 400 : 505)
    }
    const marked = first.method === undefined ? whole : addReceived(addBranch(whole), flow.remote)
    const text = normalise(marked)
    const seen = peekHeaders(text ?? marked)
    if (text !== undefined && seen !== undefined) return this.#takeWhole(plainBody(text, seen), seen, flow)
    if (first.method !== undefined && first.method !== "ACK") this.#answer(marked, flow, 400)
  }

  #takeWhole(text: string, seen: PeekedHeaders, flow: Flow): void {
    const held = this.#deciding.get(seen.callId)
    if (held !== undefined && (seen.method !== "INVITE" || seen.cseq <= held.cseq)) {
      if (seen.method !== "INVITE" && held.messages.length < mostHeld) held.messages.push([text, flow])
      return
    }
    const call = this.#options.calls.get(seen.callId)
    if (call !== undefined && !isAnew(text, seen, this.#options.calls, call)) return this.#toCall(call, text, flow)
    if (seen.method === undefined) return
    const judgement = validate(text, seen)
    if (judgement.act === "reply") return this.#answer(text, flow, judgement.status, judgement.headers)
    if (judgement.act === "invite") this.#invited(text, seen, flow)
  }

  #toCall(call: TableEntry, text: string, flow: Flow): void {
    const message = parse(text)
    const seen = peekHeaders(text)
    const fault = seen?.method === undefined ? undefined : faultIn(text, seen)
    if (fault?.act === "reply") return this.#answer(text, flow, fault.status, fault.headers)
    if (message === undefined) {
      return seen?.method === undefined || seen.method === "ACK" ? undefined : this.#answer(text, flow, 400)
    }
    // A request that knows neither tags nor branch: the call by another way (RFC 3261, 8.2.2.2), or somebody who listened.
    if (seen?.method !== undefined && placeIn(call, message) === "none") return this.#toNobody(text, seen, flow)
    deliver(call, message, text, flow)
  }

  #toNobody(text: string, seen: PeekedHeaders, flow: Flow): void {
    const judgement = validate(text, seen)
    if (judgement.act === "reply") this.#answer(text, flow, judgement.status, judgement.headers)
    // It was admitted once, not twice.
    else if (judgement.act === "invite") this.#answer(text, flow, 482)
  }

  #invited(text: string, seen: PeekedHeaders, flow: Flow): void {
    const isFull =
      this.#options.calls.liveCount + this.#deciding.size >= mostCalls || this.#options.calls.size >= mostKnown
    if (this.#options.isClosed() || isFull) return this.#answer(text, flow, 503, ["Retry-After: 10"])
    const head = headOf(text)
    const dialed = userOf(head.slice(0, head.indexOf("\r\n")))
    const message = parse(text)
    if (message === undefined || message instanceof IncomingResponseMessage) return this.#answer(text, flow, 400)
    if (headersIn(head, "contact", "m").length === 0) return this.#answer(text, flow, 400)
    this.#answer(text, flow, 100)
    const held: Held = { cseq: seen.cseq, messages: [] }
    this.#deciding.set(seen.callId, held)
    const released = Effect.sync(() => {
      this.#deciding.delete(seen.callId)
      for (const [later, from] of held.messages) this.onMessage(later, from)
    })
    this.#options.run(
      this.#admitted({ text, flow, message, dialed }).pipe(
        Effect.onInterrupt(() => Effect.sync(() => this.#answer(text, flow, 503, ["Retry-After: 10"]))),
        Effect.catchCause((cause) =>
          Effect.sync(() => {
            if (Cause.hasInterruptsOnly(cause)) return
            this.#options.onFault?.(Cause.squash(cause))
            this.#answer(text, flow, 500)
          })
        ),
        Effect.ensuring(released)
      )
    )
  }

  /** Asks the number's trunk; a call that is let in runs on its own from there. */
  #admitted(invitation: Invitation): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { dialed, flow, message, text } = invitation
      const trunks = yield* Effect.promise(() => this.#options.trunksOf(dialed))
      const { headers, status, trunk } = this.#trunks.admit(trunks, headOf(text), flow.remote.address)
      if (trunk === undefined) {
        this.#options.onTrace?.(message.callId, [
          { atMs: 0, direction: "in", what: "INVITE", detail: `${message.cseq} INVITE` },
          { atMs: 0, direction: "out", what: String(status), detail: flow.transport }
        ])
        return this.#answer(text, flow, status, headers)
      }
      const here = yield* Effect.promise(() => this.#options.hereFor(flow))
      this.#options.run(
        beginCall(this.#options, invitation, trunk, here).pipe(
          Effect.catchCause((cause) =>
            Effect.sync(() => void (Cause.hasInterruptsOnly(cause) || this.#options.onFault?.(Cause.squash(cause))))
          )
        )
      )
    })
  }
}

/** A call that its trunk admitted: its own core on its own flow, until its last retransmission is answered. */
const beginCall = (
  options: InboundOptions,
  { dialed, flow: from, message, text }: Invitation,
  trunk: InboundTrunk,
  here: Here
): Effect.Effect<void> => {
  const { calls, mayReach, onCall, onFault, timings, userAgent } = options
  const sipTrace = new SipTrace()
  const flow = new SwitchingFlow(from)
  const open = Effect.acquireRelease(
    Effect.sync(() =>
      makeSipCore({ flow, sipTrace, here: here.signalling, userAgent, user: dialed, mayReach, onFault })
    ),
    (sip) => Effect.sync(sip.close)
  ).pipe(
    Effect.flatMap((sip) => calls.enter(message.callId, sip, flow)),
    Effect.map((call) => ({ call }))
  )
  const isTls = from.transport === "tls" && isSecure(text)
  const talk = Effect.fnUntraced(function* ({ call }: Opening): Effect.fn.Return<void, never, Scope.Scope> {
    const { sip } = call
    const requests: Array<IncomingInviteRequest> = []
    sip.core.delegate.onInvite = (request) => void requests.push(request)
    sip.receive(message, text)
    const [request] = requests
    // Refused by the core itself.
    if (request === undefined) return
    const hasTalked = yield* incomingCall({
      request,
      sip,
      sipTrace,
      timings,
      call: { trunkId: trunk.id, callerNumber: callerOf(headOf(text)), dialedNumber: dialed },
      makeMedia: () =>
        options.makeMedia({
          address: here.media,
          peer: from.remote.address,
          secure: isTls,
          onNote: (what, detail) => sipTrace.note(what, detail)
        }),
      isProven: from.reliable || trunk.digest !== undefined,
      onCall,
      onSession: (session) => void (call.session = session)
    })
    if (!hasTalked) options.onTrace?.(message.callId, sipTrace.lines())
  })
  return runCall(calls, timings, open, talk)
}

/** Answers a request from its own lines; what lacks them gets no answer. */
const answering =
  (userAgent: string) =>
  (text: string, flow: Flow, status: number, headers: ReadonlyArray<string> = []): void => {
    const reply = bareReply(text, status, [...headers, `Server: ${userAgent}`])
    if (reply !== undefined) flow.send(reply)
  }

/** An INVITE that begins a call once more under the name of a finished one. */
const isAnew = (text: string, seen: PeekedHeaders, calls: CallTable, call: TableEntry): boolean => {
  if (seen.method !== "INVITE" || calls.isLive(call)) return false
  const message = parse(text)
  return message !== undefined && !message.toTag && placeIn(call, message) === "none"
}

const isSecure = (text: string): boolean => /^m=audio \d+ RTP\/SAVP/m.test(text)
