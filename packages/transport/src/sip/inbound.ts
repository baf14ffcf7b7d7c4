// What comes in: messages find their call by Call-ID; what belongs to none is answered from its own lines and
// forgotten, but for an INVITE that its number's trunk admits. Untrusted bytes end here: nothing is thrown.
import { Cause, Effect, type Scope } from "effect"
import {
  type IncomingInviteRequest,
  type IncomingRequestMessage,
  IncomingResponseMessage
} from "sip.js/lib/core/index.js"
import type { SipServerOptions, SipTimings } from "../phone/Phone.ts"
import { bareReply } from "./bareReply.ts"
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
export interface InboundOptions extends Pick<SipServerOptions, "userAgent" | "trunkOf" | "onCall" | "onTrace"> {
  readonly calls: CallTable
  readonly timings: SipTimings
  readonly nowMs?: (() => number) | undefined
  /** Runs it until the server closes; starts it before it returns. */
  readonly run: (call: Effect.Effect<void>) => void
  readonly hereFor: (flow: Flow) => Promise<Here>
  readonly makeMedia: MakeMedia
  /** The server closes: new calls are refused. */
  readonly isClosed: () => boolean
  /** A message or a call that broke something: a fault of ours. It ends there. */
  readonly onFault?: ((error: unknown) => void) | undefined
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
  const { calls } = options
  /** INVITEs whose trunk is being asked for, by Call-ID. */
  const deciding = new Map<string, Held>()
  const trunks = new TrunkAdmission(options.nowMs)
  const answer = answering(options.userAgent)

  const take = (sent: string, flow: Flow): void => {
    const whole = unfolded(sent)
    const first = peekHeaders(whole)
    if (first === undefined) {
      // Another version of SIP is told so (RFC 3261, 21.5.6).
      const version = /^[A-Z]+ [^\r\n]* SIP\/(\d+\.\d+)[ \t]*\r\n/i.exec(whole)?.[1]
      return version === undefined ? undefined : answer(whole, flow, version === "2.0" ? 400 : 505)
    }
    const marked = first.method === undefined ? whole : addReceived(addBranch(whole), flow.remote)
    const text = normalise(marked)
    const seen = peekHeaders(text ?? marked)
    if (text !== undefined && seen !== undefined) return takeWhole(text, seen, flow)
    if (first.method !== undefined && first.method !== "ACK") answer(marked, flow, 400)
  }

  const takeWhole = (text: string, seen: PeekedHeaders, flow: Flow): void => {
    const held = deciding.get(seen.callId)
    if (held !== undefined && (seen.method !== "INVITE" || seen.cseq <= held.cseq)) {
      if (seen.method !== "INVITE" && held.messages.length < mostHeld) held.messages.push([text, flow])
      return
    }
    const call = calls.get(seen.callId)
    if (call !== undefined && !isAnew(text, seen, calls, call)) return toCall(call, text, flow)
    if (seen.method === undefined) return
    const judgement = validate(text, seen)
    if (judgement.act === "reply") return answer(text, flow, judgement.status, judgement.headers)
    if (judgement.act === "invite") invited(text, seen, flow)
  }

  const toCall = (call: TableEntry, text: string, flow: Flow): void => {
    const message = parse(text)
    const seen = peekHeaders(text)
    const fault = seen?.method === undefined ? undefined : faultIn(text, seen)
    if (fault?.act === "reply") return answer(text, flow, fault.status, fault.headers)
    if (message === undefined) {
      return seen?.method === undefined || seen.method === "ACK" ? undefined : answer(text, flow, 400)
    }
    // A request that knows neither tags nor branch: the call by another way (RFC 3261, 8.2.2.2), or somebody who listened.
    if (seen?.method !== undefined && placeIn(call, message) === "none") return toNobody(text, seen, flow)
    deliver(call, message, text, flow)
  }

  const toNobody = (text: string, seen: PeekedHeaders, flow: Flow): void => {
    const judgement = validate(text, seen)
    if (judgement.act === "reply") answer(text, flow, judgement.status, judgement.headers)
    // It was admitted once, not twice.
    else if (judgement.act === "invite") answer(text, flow, 482)
  }

  const invited = (text: string, seen: PeekedHeaders, flow: Flow): void => {
    const isFull = calls.liveCount + deciding.size >= mostCalls || calls.size >= mostKnown
    if (options.isClosed() || isFull) return answer(text, flow, 503, ["Retry-After: 10"])
    const head = headOf(text)
    const dialed = userOf(head.slice(0, head.indexOf("\r\n")))
    const message = parse(text)
    if (message === undefined || message instanceof IncomingResponseMessage) return answer(text, flow, 400)
    if (headersIn(head, "contact", "m").length === 0) return answer(text, flow, 400)
    answer(text, flow, 100)
    const held: Held = { cseq: seen.cseq, messages: [] }
    deciding.set(seen.callId, held)
    const released = Effect.sync(() => {
      deciding.delete(seen.callId)
      for (const [later, from] of held.messages) onMessage(later, from)
    })
    options.run(
      admitted({ text, flow, message, dialed }).pipe(
        Effect.onInterrupt(() => Effect.sync(() => answer(text, flow, 503, ["Retry-After: 10"]))),
        Effect.catchCause((cause) =>
          Effect.sync(() => {
            if (Cause.hasInterruptsOnly(cause)) return
            options.onFault?.(Cause.squash(cause))
            answer(text, flow, 500)
          })
        ),
        Effect.ensuring(released)
      )
    )
  }

  /** Asks the number's trunk; a call that is let in runs on its own from there. */
  const admitted = Effect.fnUntraced(function* (invitation: Invitation) {
    const { dialed, flow, message, text } = invitation
    const trunk = yield* Effect.promise(() => options.trunkOf(dialed))
    const [status, headers] =
      trunk === undefined ? ([404, []] as const) : trunks.admit(trunk, headOf(text), flow.remote.address)
    if (trunk === undefined || status !== 200) {
      options.onTrace?.(message.callId, [
        { atMs: 0, direction: "in", what: "INVITE", detail: `${message.cseq} INVITE` },
        { atMs: 0, direction: "out", what: String(status), detail: flow.transport }
      ])
      return answer(text, flow, status, headers)
    }
    const here = yield* Effect.promise(() => options.hereFor(flow))
    options.run(
      beginCall(options, invitation, trunk.id, here).pipe(
        Effect.catchCause((cause) =>
          Effect.sync(() => void (Cause.hasInterruptsOnly(cause) || options.onFault?.(Cause.squash(cause))))
        )
      )
    )
  })

  const onMessage = (sent: string, flow: Flow): void => {
    try {
      take(sent, flow)
    } catch (error) {
      // A message that breaks something must not take the process with it.
      options.onFault?.(error)
    }
  }
  return onMessage
}

/** A call that its trunk admitted: its own core on its own flow, until its last retransmission is answered. */
const beginCall = (
  options: InboundOptions,
  { dialed, flow: from, message, text }: Invitation,
  trunkId: string,
  here: Here
): Effect.Effect<void> => {
  const { calls, onCall, timings, userAgent } = options
  const sipTrace = new SipTrace()
  const flow = new SwitchingFlow(from)
  const open = Effect.acquireRelease(
    Effect.sync(() => makeSipCore({ flow, sipTrace, here: here.signalling, userAgent, user: dialed })),
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
      call: { trunkId, callerNumber: callerOf(headOf(text)), dialedNumber: dialed },
      makeMedia: () => options.makeMedia(here.media, isTls, (what, detail) => sipTrace.note(what, detail)),
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
