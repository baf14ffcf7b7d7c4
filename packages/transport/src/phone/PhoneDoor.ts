// The door of the telephone: sockets, calls that come in and are placed, and who belongs to which. Messages find their
// call by Call-ID; what belongs to none is answered from its own lines and forgotten. Untrusted bytes end here.
import { IncomingResponseMessage, type IncomingRequestMessage } from "sip.js/lib/core/index.js"
import { randomBytes } from "node:crypto"
import { BlockList, isIP } from "node:net"
import { Redacted } from "effect"
import { makePhoneMedia } from "../rtp/PhoneMedia.ts"
import { bareReply } from "../sip/bareReply.ts"
import { DigestServer } from "../sip/digest.ts"
import type { Flow } from "../sip/Flow.ts"
import { Incoming } from "../sip/Incoming.ts"
import { judge } from "../sip/judge.ts"
import { Ladder } from "../sip/Ladder.ts"
import { locate, type Located } from "../sip/locate.ts"
import { localAddress } from "../sip/localAddress.ts"
import { credentialsOf, Outgoing } from "../sip/Outgoing.ts"
import { makeSipCore, parse, type SipCore } from "../sip/SipCore.ts"
import type { SipSession } from "../sip/SipSession.ts"
import { SwitchingFlow } from "../sip/SwitchingFlow.ts"
import { type Glance, glance, headerIn, headOf, mended, stamped, userOf } from "../sip/text.ts"
import { connectStream, openStreams, openUdp, type UdpWire, type Wire } from "../sip/wires.ts"
import { callerOf } from "./caller.ts"
import type { DialOutcome, DialRequest, InboundTrunk, OutboundTrunk, PhoneDoor, PhoneDoorOptions } from "./Phone.ts"

/** What a finished call still answers repeats for: 64 T1 on UDP, moments on connections. */
const lingerMs = { unreliable: 33_000, reliable: 5_000 }
/** New calls beyond this many are refused before anything is kept of them. */
const mostCalls = 5_000
const checkMs = 8_000
const goodbyeMs = 1_000

interface Live {
  readonly sip: SipCore
  readonly flow: SwitchingFlow
  session: SipSession | undefined
  over: boolean
  hangUp: () => void
}

export const makePhoneDoor = async (options: PhoneDoorOptions): Promise<PhoneDoor> => {
  const calls = new Map<string, Live>()
  /** INVITEs whose trunk is being asked for. */
  const deciding = new Set<string>()
  const digests = new DigestServer("parley")
  const lingering = new Set<NodeJS.Timeout>()
  let closed = false

  // What comes in

  const onMessage = (sent: string, flow: Flow): void => {
    try {
      take(sent, flow)
    } catch {
      // A message that breaks something must not take the process with it.
    }
  }

  const answer = (text: string, flow: Flow, status: number, headers: ReadonlyArray<string> = []): void => {
    const reply = bareReply(text, status, [...headers, `Server: ${options.userAgent}`])
    if (reply !== undefined) flow.send(reply)
  }

  const take = (sent: string, flow: Flow): void => {
    const seen = glance(sent)
    if (seen === undefined) {
      // Another version of SIP is told so (RFC 3261, 21.5.6).
      const version = /^[A-Z]+ \S+ SIP\/(\d+\.\d+)\r\n/i.exec(sent)?.[1]
      return version === undefined ? undefined : answer(sent, flow, version === "2.0" ? 400 : 505)
    }
    const marked = seen.method === undefined ? sent : stamped(sent, flow.remote)
    const text = mended(marked)
    if (text === undefined)
      return seen.method === undefined || seen.method === "ACK" ? undefined : answer(marked, flow, 400)
    const call = calls.get(seen.callId)
    if (call !== undefined) return toCall(call, text, flow)
    if (seen.method === undefined) return
    const judgement = judge(text, seen)
    if (judgement.act === "reply") return answer(text, flow, judgement.status, judgement.headers)
    if (judgement.act === "invite") void invited(text, seen, flow)
  }

  const toCall = (call: Live, text: string, flow: Flow): void => {
    const message = parse(text)
    if (message === undefined) return glance(text)?.method === undefined ? undefined : answer(text, flow, 400)
    call.flow.follow(flow)
    const isUpdate = !(message instanceof IncomingResponseMessage) && message.method === "UPDATE"
    if (isUpdate && call.session !== undefined) return void call.session.updated(message as IncomingRequestMessage)
    call.sip.receive(message, text)
  }

  const invited = async (text: string, seen: Glance, flow: Flow): Promise<void> => {
    const key = `${seen.callId} ${seen.cseq}`
    if (deciding.has(key)) return
    if (closed || calls.size + deciding.size >= mostCalls) return answer(text, flow, 503, ["Retry-After: 10"])
    const head = headOf(text)
    const dialed = userOf(head.slice(0, head.indexOf("\r\n")))
    answer(text, flow, 100)
    deciding.add(key)
    try {
      const trunk = await options.trunkOf(dialed)
      const status = trunk === undefined ? 404 : admitted(trunk, head, flow)
      if (trunk === undefined || status !== 200) {
        options.onLadder?.(seen.callId, [
          { atMs: 0, direction: "in", what: "INVITE", detail: `${seen.cseq} INVITE` },
          { atMs: 0, direction: "out", what: String(status), detail: flow.transport }
        ])
        const stale = digests.judge(headerIn(head, "authorization"), "INVITE", digestOf(trunk)) === "stale"
        const challenge = status === 401 ? digests.challenge(stale) : []
        return answer(text, flow, status, challenge)
      }
      await begin(trunk, dialed, text, flow)
    } catch {
      answer(text, flow, 500)
    } finally {
      deciding.delete(key)
    }
  }

  /** Every factor that is set must hold. */
  const admitted = (trunk: InboundTrunk, head: string, flow: Flow): number => {
    if (trunk.allowedAddresses.length === 0 && trunk.digest === undefined) return 403
    if (trunk.allowedAddresses.length > 0 && !among(trunk.allowedAddresses, flow.remote.address)) return 403
    if (trunk.digest === undefined) return 200
    return digests.judge(headerIn(head, "authorization"), "INVITE", digestOf(trunk)) === "good" ? 200 : 401
  }

  const begin = async (trunk: InboundTrunk, dialed: string, text: string, from: Flow): Promise<void> => {
    const message = parse(text)
    if (message === undefined || message instanceof IncomingResponseMessage) return answer(text, from, 400)
    const callId = message.callId
    const here = await hereFor(from)
    const ladder = new Ladder()
    const flow = new SwitchingFlow(from)
    const sip = makeSipCore({ flow, ladder, here: here.signalling, userAgent: options.userAgent, user: dialed })
    const live: Live = { sip, flow, session: undefined, over: false, hangUp: () => undefined }
    calls.set(callId, live)
    sip.core.delegate.onInvite = (request) => {
      const incoming = new Incoming({
        request,
        sip,
        ladder,
        trunkId: trunk.id,
        callerNumber: callerOf(headOf(text)),
        dialedNumber: dialed,
        makeMedia: (onNote) => media(here.media, from.transport === "tls" && /RTP\/SAVP/.test(text), onNote),
        onSession: (session) => {
          live.session = session
          live.hangUp = () => session.hangUp()
        },
        onOver: (legLess) => {
          finish(callId, live)
          if (legLess) options.onLadder?.(callId, ladder.lines())
        }
      })
      live.hangUp = () => incoming.refuse(503)
      options.onCall(incoming)
    }
    sip.receive(message, text)
  }

  const media = (address: string, secure: boolean, onNote: (what: string, detail: string) => void) =>
    makePhoneMedia({ address, bind: options.host, ports: options.rtpPorts, secure, onNote })

  const finish = (callId: string, live: Live): void => {
    if (live.over) return
    live.over = true
    const timer = setTimeout(
      () => {
        lingering.delete(timer)
        live.sip.close()
        if (calls.get(callId) === live) calls.delete(callId)
      },
      live.flow.reliable ? lingerMs.reliable : lingerMs.unreliable
    )
    timer.unref()
    lingering.add(timer)
  }

  // What goes out

  const dial = (request: DialRequest) => {
    let current: Outgoing | undefined
    let cancelled = false
    const callId = `${randomBytes(12).toString("hex")}@parley`
    const failed: DialOutcome = { status: "failed", sipStatus: null, callId }

    const attemptAt = async (place: Located, id: string): Promise<DialOutcome> => {
      const opened = await flowTo(place)
      if (opened === undefined || closed) return failed
      const here = await hereFor(opened)
      const ladder = new Ladder()
      const flow = new SwitchingFlow(opened)
      const sip = makeSipCore({
        flow,
        ladder,
        here: here.signalling,
        userAgent: options.userAgent,
        user: request.from,
        credentials: credentialsOf(request.trunk.credentials)
      })
      const secure = place.transport === "tls"
      const sound = await media(here.media, secure, (what, detail) => ladder.note(what, detail)).catch(() => undefined)
      if (sound === undefined) {
        sip.close()
        return failed
      }
      if (cancelled) {
        sound.close()
        sip.close()
        return { ...failed, status: "no_answer" }
      }
      const live: Live = { sip, flow, session: undefined, over: false, hangUp: () => current?.cancel() }
      calls.set(id, live)
      return new Promise((resolve) => {
        current = new Outgoing({
          request,
          callId: id,
          sip,
          media: sound,
          ladder,
          onSession: (session) => {
            live.session = session
            live.hangUp = () => session.hangUp()
          },
          onOutcome: (outcome) => {
            if (outcome.status !== "answered") options.onLadder?.(id, ladder.lines())
            resolve(outcome)
          },
          onOver: () => finish(id, live)
        })
      })
    }

    const run = async (): Promise<DialOutcome> => {
      const places = await locate(request.trunk)
      let outcome: DialOutcome = failed
      for (const [i, place] of places.slice(0, 2).entries()) {
        if (cancelled) return { ...failed, status: "no_answer" }
        outcome = await attemptAt(place, i === 0 ? callId : `${i}-${callId}`)
        // The next place only where this one is not there (RFC 3263, 4.3).
        const isGone = outcome.status === "failed" && (outcome.sipStatus === null || outcome.sipStatus === 503)
        if (!isGone) return outcome
      }
      return outcome
    }
    return {
      outcome: run().catch(() => failed),
      cancel: () => {
        cancelled = true
        current?.cancel()
      }
    }
  }

  const check = async (trunk: OutboundTrunk) => {
    const beganMs = performance.now()
    const [place] = await locate(trunk)
    const opened = place === undefined ? undefined : await flowTo(place)
    const none = () => ({ sipStatus: null, tookMs: Math.round(performance.now() - beganMs) })
    if (place === undefined || opened === undefined) return none()
    const here = await hereFor(opened)
    const callId = `${randomBytes(12).toString("hex")}@parley`
    const flow = new SwitchingFlow(opened)
    const sip = makeSipCore({
      flow,
      ladder: new Ladder(),
      here: here.signalling,
      userAgent: options.userAgent,
      user: "",
      credentials: credentialsOf(trunk.credentials)
    })
    const live: Live = { sip, flow, session: undefined, over: false, hangUp: () => undefined }
    calls.set(callId, live)
    const contact = sip.core.configuration.contact.uri
    const target = contact.clone()
    target.host = place.address.includes(":") ? `[${place.address}]` : place.address
    target.port = place.port
    const sipStatus = await new Promise<number | null>((resolve) => {
      const limit = setTimeout(() => resolve(null), checkMs)
      const done = ({ message }: { readonly message: IncomingResponseMessage }): void => {
        clearTimeout(limit)
        resolve(message.statusCode ?? null)
      }
      const message = sip.core.makeOutgoingRequestMessage("OPTIONS", target, contact, target, { callId })
      sip.core.request(message, { onAccept: done, onReject: done, onRedirect: done })
    })
    finish(callId, live)
    return { sipStatus, tookMs: Math.round(performance.now() - beganMs) }
  }

  const flowTo = async (place: Located): Promise<Flow | undefined> => {
    if (place.transport === "udp") return (await udpOut()).flowTo(place.address, place.port)
    const { transport } = place
    return connectStream({ ...place, transport }, options.authorities, streams)
  }

  // Where we are

  const streams = { onMessage }

  /** Ours as this far side reaches it. */
  const hereFor = async (flow: Flow): Promise<{ readonly signalling: string; readonly media: string }> => {
    const local = options.publicAddress ?? (await localAddress(options.host, flow.remote.address))
    const host = local.includes(":") ? `[${local}]` : local
    const port = flow.transport === "udp" ? (await udpOut()).port : flow.transport === "tcp" ? tcp?.port : tls?.port
    return { signalling: `${host}:${port ?? 5060}`, media: local }
  }

  let udp: UdpWire | undefined
  let tcp: Wire | undefined
  let tls: Wire | undefined
  let ephemeral: Promise<UdpWire> | undefined
  const udpOut = (): Promise<UdpWire> =>
    udp === undefined ? (ephemeral ??= openUdp(options.host, 0, onMessage)) : Promise.resolve(udp)
  const wires: Array<Wire> = []
  try {
    if (options.port !== undefined) {
      wires.push((udp = await openUdp(options.host, options.port, onMessage)))
      wires.push((tcp = await openStreams(options.host, udp.port, undefined, streams)))
    }
    if (options.tls !== undefined) {
      wires.push((tls = await openStreams(options.host, options.tls.port, options.tls, streams)))
    }
  } catch (error) {
    await Promise.all(wires.map((wire) => wire.close()))
    throw error
  }

  return {
    ports: {
      ...(udp === undefined ? {} : { udp: udp.port }),
      ...(tcp === undefined ? {} : { tcp: tcp.port }),
      ...(tls === undefined ? {} : { tls: tls.port })
    },
    dial,
    check,
    count: () => [...calls.values()].filter((call) => !call.over).length,
    close: async () => {
      if (closed) return
      closed = true
      const open = [...calls.values()].filter((call) => !call.over)
      for (const call of open) call.hangUp()
      if (open.length > 0) await new Promise((rest) => setTimeout(rest, goodbyeMs))
      for (const timer of lingering) clearTimeout(timer)
      for (const call of calls.values()) call.sip.close()
      calls.clear()
      const asked = ephemeral === undefined ? [] : [await ephemeral]
      await Promise.all([...wires, ...asked].map((wire) => wire.close()))
    }
  }
}

const digestOf = (trunk: InboundTrunk | undefined) =>
  trunk?.digest === undefined
    ? { username: "", password: "" }
    : { username: trunk.digest.username, password: Redacted.value(trunk.digest.password) }

/** Whether an address lies in one of the blocks. What is no block matches nothing. */
const among = (blocks: ReadonlyArray<string>, address: string): boolean => {
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
