// What goes out: calls placed at a trunk's places in their order, and the question whether a trunk is there.
import type { IncomingResponseMessage } from "sip.js/lib/core/index.js"
import { randomBytes } from "node:crypto"
import type { Media } from "../rtp/Media.ts"
import type { Flow } from "../sip/Flow.ts"
import { SipTrace } from "../sip/SipTrace.ts"
import { locate, type Located } from "../sip/locate.ts"
import { credentialsOf, Outgoing } from "../sip/Outgoing.ts"
import { makeSipCore } from "../sip/SipCore.ts"
import { SwitchingFlow } from "../sip/SwitchingFlow.ts"
import type { Waits } from "../sip/waits.ts"
import type { CallTable, Live } from "./CallTable.ts"
import type { DialOutcome, DialRequest, Dialling, OutboundTrunk, SipServer, SipServerOptions } from "./Phone.ts"

export interface DeparturesOptions extends Pick<SipServerOptions, "userAgent" | "onTrace" | "find"> {
  readonly calls: CallTable
  readonly waits: Waits
  readonly hereFor: (flow: Flow) => Promise<{ readonly signalling: string; readonly media: string }>
  readonly makeMedia: (
    address: string,
    secure: boolean,
    onNote: (what: string, detail: string) => void
  ) => Promise<Media>
  /** Undefined where nobody takes the connection. */
  readonly flowTo: (place: Located) => Promise<Flow | undefined>
  readonly isClosed: () => boolean
}

const mostPlaces = 2

export const makeDepartures = (options: DeparturesOptions): Pick<SipServer, "dial" | "check"> => {
  const { calls, find = locate, waits } = options

  /** One try at one place; `onCurrent` gets what cancels it. */
  const tryAt = async (
    place: Located,
    callId: string,
    request: DialRequest,
    isCancelled: () => boolean,
    onCurrent: (outgoing: Outgoing) => void
  ): Promise<DialOutcome> => {
    const failed: DialOutcome = { status: "failed", sipStatus: null, callId }
    const opened = await options.flowTo(place)
    if (opened === undefined || options.isClosed()) return failed
    const here = await options.hereFor(opened)
    const sipTrace = new SipTrace()
    const secure = place.transport === "tls"
    const note = (what: string, detail: string): void => sipTrace.note(what, detail)
    const media = await options.makeMedia(here.media, secure, note).catch(() => undefined)
    if (media === undefined) return failed
    if (isCancelled() || options.isClosed()) {
      media.close()
      return { ...failed, status: "no_answer" }
    }
    const flow = new SwitchingFlow(opened)
    const sip = makeSipCore({
      flow,
      sipTrace,
      here: here.signalling,
      userAgent: options.userAgent,
      user: request.from,
      credentials: credentialsOf(request.trunk.credentials)
    })
    const live: Live = { sip, flow, session: undefined, over: false, hangUp: () => undefined }
    calls.add(callId, live)
    return new Promise((resolve) => {
      const outgoing = new Outgoing({
        request,
        callId,
        sip,
        media,
        sipTrace,
        waits,
        onSession: (session) => {
          live.session = session
          live.hangUp = () => session.lose("failed")
        },
        onOutcome: (outcome) => {
          if (outcome.status !== "answered") options.onTrace?.(callId, sipTrace.lines())
          resolve(outcome)
        },
        onOver: () => calls.finish(callId, live)
      })
      live.hangUp = () => outgoing.cancel()
      onCurrent(outgoing)
    })
  }

  const dial = (request: DialRequest): Dialling => {
    let current: Outgoing | undefined
    let isCancelled = false
    const callId = newCallId()
    const failed: DialOutcome = { status: "failed", sipStatus: null, callId }
    const run = async (): Promise<DialOutcome> => {
      let outcome: DialOutcome = failed
      for (const [i, place] of (await find(request.trunk)).slice(0, mostPlaces).entries()) {
        if (isCancelled) return { ...failed, status: "no_answer" }
        outcome = await tryAt(
          place,
          i === 0 ? callId : `${i}-${callId}`,
          request,
          () => isCancelled,
          (outgoing) => (current = outgoing)
        )
        // The next place only where this one is not there (RFC 3263, 4.3).
        const isGone = outcome.status === "failed" && (outcome.sipStatus === null || outcome.sipStatus === 503)
        if (!isGone) return outcome
      }
      return outcome
    }
    return {
      outcome: run().catch(() => failed),
      cancel: () => {
        isCancelled = true
        current?.cancel()
      }
    }
  }

  const check = async (trunk: OutboundTrunk) => {
    const beganMs = performance.now()
    const result = (sipStatus: number | null) => ({ sipStatus, tookMs: Math.round(performance.now() - beganMs) })
    const [place] = await find(trunk)
    const opened = place === undefined ? undefined : await options.flowTo(place)
    if (place === undefined || opened === undefined || options.isClosed()) return result(null)
    const here = await options.hereFor(opened)
    const callId = newCallId()
    const flow = new SwitchingFlow(opened)
    const sip = makeSipCore({
      flow,
      sipTrace: new SipTrace(),
      here: here.signalling,
      userAgent: options.userAgent,
      user: "",
      credentials: credentialsOf(trunk.credentials)
    })
    const live: Live = { sip, flow, session: undefined, over: false, hangUp: () => undefined }
    calls.add(callId, live)
    const contact = sip.core.configuration.contact.uri
    const target = contact.clone()
    target.host = place.address.includes(":") ? `[${place.address}]` : place.address
    target.port = place.port
    const sipStatus = await new Promise<number | null>((resolve) => {
      const limit = setTimeout(() => resolve(null), waits.checkMs)
      const done = ({ message }: { readonly message: IncomingResponseMessage }): void => {
        clearTimeout(limit)
        resolve(message.statusCode ?? null)
      }
      const message = sip.core.makeOutgoingRequestMessage("OPTIONS", target, contact, target, { callId })
      sip.core.request(message, { onAccept: done, onReject: done, onRedirect: done })
    })
    calls.finish(callId, live)
    return result(sipStatus)
  }

  return { dial, check }
}

const newCallId = (): string => `${randomBytes(12).toString("hex")}@parley`
