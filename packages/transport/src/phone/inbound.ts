// What comes in: messages find their call by Call-ID; what belongs to none is answered from its own lines and
// forgotten, but for an INVITE that its number's trunk admits. Untrusted bytes end here: nothing is thrown.
import { type IncomingRequestMessage, IncomingResponseMessage } from "sip.js/lib/core/index.js"
import { BlockList, isIP } from "node:net"
import { Redacted } from "effect"
import type { Media } from "../rtp/Media.ts"
import { bareReply } from "../sip/bareReply.ts"
import { DigestServer, type Verdict } from "../sip/digest.ts"
import type { Flow } from "../sip/Flow.ts"
import { Incoming } from "../sip/Incoming.ts"
import { faultIn, judge } from "../sip/validate.ts"
import { SipTrace } from "../sip/SipTrace.ts"
import { makeSipCore, parse } from "../sip/SipCore.ts"
import { SimplePeers } from "../sip/SimplePeers.ts"
import { SwitchingFlow } from "../sip/SwitchingFlow.ts"
import {
  branched,
  type PeekedHeaders,
  peekHeaders,
  headerIn,
  headersIn,
  headOf,
  normalise,
  stamped,
  unfolded,
  userOf
} from "../sip/text.ts"
import type { Waits } from "../sip/waits.ts"
import { hand, type CallTable, type Live, placeIn } from "./CallTable.ts"
import { callerOf } from "./caller.ts"
import type { InboundTrunk, SipServerOptions } from "./Phone.ts"

export interface ArrivalsOptions extends Pick<SipServerOptions, "userAgent" | "trunkOf" | "onCall" | "onTrace"> {
  readonly calls: CallTable
  readonly waits: Waits
  readonly nowMs?: (() => number) | undefined
  /** Ours as this far side reaches it. */
  readonly hereFor: (flow: Flow) => Promise<{ readonly signalling: string; readonly media: string }>
  readonly makeMedia: (
    address: string,
    secure: boolean,
    onNote: (what: string, detail: string) => void
  ) => Promise<Media>
  readonly isClosed: () => boolean
  /** A message that broke something: a fault of ours. It ends there. */
  readonly onFault?: ((error: unknown) => void) | undefined
}

/** New calls beyond this many are refused before anything is kept of them. */
const mostCalls = 5_000
/** Finished ones that still answer repeats with them: half a minute's worth. */
const mostKnown = 30_000
/** Messages of a call whose trunk is still being asked for. */
const mostHeld = 8

interface Held {
  readonly cseq: number
  readonly messages: Array<readonly [text: string, flow: Flow]>
}

/** Takes what a wire brings. Never throws. */
export const makeArrivals = (options: ArrivalsOptions): ((sent: string, flow: Flow) => void) => {
  const { calls, isClosed } = options
  /** INVITEs whose trunk is being asked for, by Call-ID. */
  const deciding = new Map<string, Held>()
  const digests = new DigestServer("parley", options.nowMs)
  const simple = new SimplePeers()

  const answer = (text: string, flow: Flow, status: number, headers: ReadonlyArray<string> = []): void => {
    const reply = bareReply(text, status, [...headers, `Server: ${options.userAgent}`])
    if (reply !== undefined) flow.send(reply)
  }

  const take = (sent: string, flow: Flow): void => {
    const whole = unfolded(sent)
    const first = peekHeaders(whole)
    if (first === undefined) {
      // Another version of SIP is told so (RFC 3261, 21.5.6).
      const version = /^[A-Z]+ [^\r\n]* SIP\/(\d+\.\d+)[ \t]*\r\n/i.exec(whole)?.[1]
      return version === undefined ? undefined : answer(whole, flow, version === "2.0" ? 400 : 505)
    }
    const marked = first.method === undefined ? whole : stamped(branched(whole), flow.remote)
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
    if (call !== undefined && !isAnew(text, seen, call)) return toCall(call, text, flow)
    if (seen.method === undefined) return
    const judgement = judge(text, seen)
    if (judgement.act === "reply") return answer(text, flow, judgement.status, judgement.headers)
    if (judgement.act === "invite") void invited(text, seen, flow)
  }

  const toCall = (call: Live, text: string, flow: Flow): void => {
    const message = parse(text)
    const seen = peekHeaders(text)
    const fault = seen?.method === undefined ? undefined : faultIn(text, seen)
    if (fault?.act === "reply") return answer(text, flow, fault.status, fault.headers)
    if (message === undefined) {
      return seen?.method === undefined || seen.method === "ACK" ? undefined : answer(text, flow, 400)
    }
    // A request that knows neither tags nor branch: the call by another way (RFC 3261, 8.2.2.2), or somebody who listened.
    if (seen?.method !== undefined && placeIn(call, message) === "none") return toNobody(text, seen, flow)
    hand(call, message, text, flow)
  }

  const toNobody = (text: string, seen: PeekedHeaders, flow: Flow): void => {
    const judgement = judge(text, seen)
    if (judgement.act === "reply") answer(text, flow, judgement.status, judgement.headers)
    // It was admitted once, not twice.
    else if (judgement.act === "invite") answer(text, flow, 482)
  }

  const invited = async (text: string, seen: PeekedHeaders, flow: Flow): Promise<void> => {
    const isFull = calls.liveCount + deciding.size >= mostCalls || calls.size >= mostKnown
    if (isClosed() || isFull) return answer(text, flow, 503, ["Retry-After: 10"])
    const head = headOf(text)
    const dialed = userOf(head.slice(0, head.indexOf("\r\n")))
    const message = parse(text)
    if (message === undefined || message instanceof IncomingResponseMessage) return answer(text, flow, 400)
    if (headersIn(head, "contact", "m").length === 0) return answer(text, flow, 400)
    answer(text, flow, 100)
    const held: Held = { cseq: seen.cseq, messages: [] }
    deciding.set(seen.callId, held)
    try {
      const trunk = await options.trunkOf(dialed)
      const [status, headers] = trunk === undefined ? ([404, []] as const) : admit(trunk, head, flow)
      if (trunk !== undefined && status === 200) await begin(trunk, dialed, message, text, flow)
      else {
        options.onTrace?.(seen.callId, [
          { atMs: 0, direction: "in", what: "INVITE", detail: `${seen.cseq} INVITE` },
          { atMs: 0, direction: "out", what: String(status), detail: flow.transport }
        ])
        answer(text, flow, status, headers)
      }
    } catch (error) {
      options.onFault?.(error)
      answer(text, flow, 500)
    } finally {
      deciding.delete(seen.callId)
      for (const [later, from] of held.messages) onMessage(later, from)
    }
  }

  /** Every factor that is set must hold. */
  const admit = (trunk: InboundTrunk, head: string, flow: Flow): readonly [number, ReadonlyArray<string>] => {
    if (trunk.allowedAddresses.length === 0 && trunk.digest === undefined) return [403, []]
    if (trunk.allowedAddresses.length > 0 && !among(trunk.allowedAddresses, flow.remote.address)) return [403, []]
    if (trunk.digest === undefined) return [200, []]
    const { password, username } = trunk.digest
    const expected = { username, password: Redacted.value(password) }
    const { address } = flow.remote
    // One for each algorithm may be there (RFC 8760, 2.4).
    let verdict: Verdict = "missing"
    for (const given of headersIn(head, "authorization").slice(0, mostAnswers)) {
      verdict = digests.judge(given, "INVITE", expected)
      if (verdict === "good") {
        if (!/algorithm\s*=\s*"?MD5/i.test(given)) simple.delete(address)
        return [200, []]
      }
    }
    if (verdict !== "missing") return [401, digests.challenge(verdict === "stale")]
    return [
      401,
      digests.challenge(false, simple.ask(address, headerIn(head, "call-id", "i") ?? "") ? ["MD5"] : undefined)
    ]
  }

  const begin = async (
    trunk: InboundTrunk,
    dialed: string,
    message: IncomingRequestMessage,
    text: string,
    from: Flow
  ): Promise<void> => {
    const { callId } = message
    const here = await options.hereFor(from)
    if (isClosed()) return answer(text, from, 503, ["Retry-After: 10"])
    const sipTrace = new SipTrace()
    const flow = new SwitchingFlow(from)
    const sip = makeSipCore({ flow, sipTrace, here: here.signalling, userAgent: options.userAgent, user: dialed })
    const live: Live = { sip, flow, session: undefined, over: false, hangUp: () => undefined }
    let isTaken = false
    sip.core.delegate.onInvite = (request) => {
      isTaken = true
      const incoming = new Incoming({
        request,
        sip,
        sipTrace,
        waits: options.waits,
        trunkId: trunk.id,
        callerNumber: callerOf(headOf(text)),
        dialedNumber: dialed,
        makeMedia: (onNote) => options.makeMedia(here.media, from.transport === "tls" && isSecure(text), onNote),
        onSession: (session) => {
          live.session = session
          live.hangUp = () => session.lose("failed")
        },
        onOver: (legLess) => {
          calls.finish(callId, live)
          if (legLess) options.onTrace?.(callId, sipTrace.lines())
        }
      })
      live.hangUp = () => incoming.refuse(503)
      options.onCall(incoming)
    }
    calls.add(callId, live)
    sip.receive(message, text)
    // Refused by the core itself.
    if (!isTaken) calls.finish(callId, live)
  }

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

const mostAnswers = 4

/** An INVITE that begins a call once more under the name of a finished one. */
const isAnew = (text: string, seen: PeekedHeaders, call: Live): boolean => {
  if (seen.method !== "INVITE" || !call.over) return false
  const message = parse(text)
  return message !== undefined && !message.toTag && placeIn(call, message) === "none"
}

const isSecure = (text: string): boolean => /^m=audio \d+ RTP\/SAVP/m.test(text)

/** Whether an address lies in one of the blocks. What is no block matches nothing. */
export const among = (blocks: ReadonlyArray<string>, address: string): boolean => {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "")
  const list = new BlockList()
  for (const block of blocks) {
    const [network = "", prefix] = block.split("/")
    const family = isIP(network) === 6 ? "ipv6" : "ipv4"
    try {
      list.addSubnet(network, prefix === undefined ? (family === "ipv6" ? 128 : 32) : Number(prefix), family)
    } catch {
      // A block that is none lets nobody in.
    }
  }
  return list.check(plain, isIP(plain) === 6 ? "ipv6" : "ipv4")
}
