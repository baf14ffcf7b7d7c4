// What goes out: calls placed at a trunk's places in their order, and the question whether a trunk is there. Each place
// that is tried is a call of its own (`runCall`), in the fibers of the server.
import { Deferred, Effect, Exit, Option, type Scope } from "effect"
import type { IncomingResponseMessage } from "sip.js/lib/core/index.js"
import { randomBytes } from "node:crypto"
import type {
  DialOutcome,
  DialRequest,
  Dialling,
  Located,
  OutboundTrunk,
  SipServer,
  SipHandlers,
  SipServerOptions,
  SipTimings
} from "../phone/Phone.ts"
import type { Media, MediaOptions } from "../rtp/Media.ts"
import { type CallTable, type Opening, runCall } from "./CallTable.ts"
import { acquireMedia } from "./conversation.ts"
import type { Flow } from "./Flow.ts"
import { locate } from "./locate.ts"
import { credentialsOf, outgoingCall } from "./outgoingCall.ts"
import { makeSipCore, type SipCore, type SipCoreOptions } from "./SipCore.ts"
import { SipTrace } from "./SipTrace.ts"
import { SwitchingFlow } from "./SwitchingFlow.ts"

/** What placing calls needs. */
export interface OutboundOptions
  extends Pick<SipHandlers, "onTrace" | "onFault">, Pick<SipServerOptions, "userAgent" | "find" | "mayReach"> {
  readonly calls: CallTable
  readonly timings: SipTimings
  /** Runs it until the server closes. */
  readonly run: (call: Effect.Effect<void>) => void
  readonly hereFor: (flow: Flow) => Promise<Here>
  readonly makeMedia: MakeMedia
  /** Undefined where nobody takes the connection. */
  readonly flowTo: (place: Located) => Promise<Flow | undefined>
}

/** Our own addresses as a far side reaches them: `host:port` for Via and Contact, an address for SDP. */
export interface Here {
  readonly signalling: string
  readonly media: string
}

/** Rejects when no RTP ports are free. */
export type MakeMedia = (options: Pick<MediaOptions, "address" | "onNote" | "peer" | "secure">) => Promise<Media>

/** How many places of a trunk are tried. */
const mostPlaces = 2

interface Opened extends Opening {
  readonly here: Here
}

/** `dial` and `check` of a server. */
export const makeOutbound = (options: OutboundOptions): Pick<SipServer, "dial" | "check"> => {
  const { find = locate, mayReach } = options
  /** A lookup may say anything: what is connected to is what was judged. */
  const placesOf = async (trunk: OutboundTrunk, onRefused = (): void => undefined): Promise<ReadonlyArray<Located>> => {
    const found = await find(trunk)
    const places = found.filter(({ address, host }) => mayReach(address, host))
    if (found.length > 0 && places.length === 0) onRefused()
    return places
  }

  const placed = Effect.fnUntraced(function* (
    request: DialRequest,
    callId: string,
    cancelled: Deferred.Deferred<void>
  ) {
    let outcome: DialOutcome = { status: "failed", sipStatus: null, callId }
    const refused = { atMs: 0, direction: "note", what: "trunk address", detail: "not public, nor allowed" } as const
    const places = yield* Effect.promise(() => placesOf(request.trunk, () => options.onTrace?.(callId, [refused])))
    for (const [i, place] of places.slice(0, mostPlaces).entries()) {
      if (Deferred.isDoneUnsafe(cancelled)) return notTaken(callId)
      outcome = yield* dialAt(options, place, i === 0 ? callId : `${i}-${callId}`, request, cancelled)
      // The next place only where this one is not there (RFC 3263, 4.3).
      const isGone = outcome.status === "failed" && (outcome.sipStatus === null || outcome.sipStatus === 503)
      if (!isGone) return outcome
    }
    return outcome
  })

  const dial = (request: DialRequest): Dialling => {
    const callId = newCallId()
    const cancelled = Deferred.makeUnsafe<void>()
    const failed = (): DialOutcome => ({ status: "failed", sipStatus: null, callId })
    return {
      outcome: Effect.runPromise(placed(request, callId, cancelled)).catch(failed),
      cancel: () => void Deferred.doneUnsafe(cancelled, Effect.void)
    }
  }

  const check: SipServer["check"] = async (trunk) => {
    const beganMs = performance.now()
    const [place] = await placesOf(trunk)
    const sipStatus = place === undefined ? null : await Effect.runPromise(askAt(options, place, trunk))
    return { sipStatus, tookMs: Math.round(performance.now() - beganMs) }
  }

  return { dial, check }
}

/** Cancelled before anybody was asked. */
const notTaken = (callId: string): DialOutcome => ({ status: "no_answer", sipStatus: null, callId })

/** A core on a flow to this place, in the table; both end with the scope. Fails when nobody takes the connection. */
const openAt = Effect.fnUntraced(function* (
  { calls, flowTo, hereFor, mayReach, onFault, userAgent }: OutboundOptions,
  place: Located,
  callId: string,
  core: Pick<SipCoreOptions, "user" | "credentials" | "sipTrace">
): Effect.fn.Return<Opened, void, Scope.Scope> {
  const opened = yield* Effect.acquireRelease(
    Effect.tryPromise({ try: () => flowTo(place), catch: () => undefined }),
    (flow) => Effect.sync(() => flow?.close?.())
  )
  if (opened === undefined) return yield* Effect.fail(undefined)
  const here = yield* Effect.tryPromise({ try: () => hereFor(opened), catch: () => undefined })
  const flow = new SwitchingFlow(opened)
  const sip = yield* Effect.acquireRelease(
    Effect.sync(() => makeSipCore({ ...core, flow, here: here.signalling, userAgent, mayReach, onFault })),
    (made) => Effect.sync(made.close)
  )
  return { call: yield* calls.enter(callId, sip, flow), here }
})

/** Places the call at one place, in a fiber of its own, and waits for the outcome. */
const dialAt = Effect.fnUntraced(function* (
  options: OutboundOptions,
  place: Located,
  callId: string,
  request: DialRequest,
  cancelled: Deferred.Deferred<void>
) {
  const { calls, timings } = options
  const outcome = Deferred.makeUnsafe<DialOutcome>()
  const tell = (what: DialOutcome): void => void Deferred.doneUnsafe(outcome, Exit.succeed(what))
  /** For whatever ends without an outcome: a connection nobody takes, no free ports, a server that closes. */
  const failed = Effect.sync(() => tell({ status: "failed", sipStatus: null, callId }))
  const sipTrace = new SipTrace()
  const credentials = credentialsOf(request.trunk.credentials)
  const talk = Effect.fnUntraced(function* ({ call, here }: Opened) {
    const onNote = (what: string, detail: string): void => sipTrace.note(what, detail)
    const secure = place.transport === "tls"
    const media = yield* acquireMedia(() =>
      options.makeMedia({ address: here.media, peer: place.address, secure, onNote })
    )
    if (Option.isNone(media)) return
    if (Deferred.isDoneUnsafe(cancelled)) return tell(notTaken(callId))
    yield* outgoingCall(
      {
        request,
        callId,
        sip: call.sip,
        media: media.value,
        sipTrace,
        timings,
        cancelled,
        onSession: (session) => void (call.session = session)
      },
      (came) => {
        if (came.status !== "answered") options.onTrace?.(callId, sipTrace.lines())
        tell(came)
      }
    )
  })
  options.run(
    runCall(calls, timings, openAt(options, place, callId, { user: request.from, credentials, sipTrace }), (opened) =>
      Effect.ensuring(talk(opened), failed)
    ).pipe(Effect.ignore, Effect.ensuring(failed))
  )
  return yield* Deferred.await(outcome)
})

/** The status of an OPTIONS to this place (RFC 3261, 11); null for none. */
const askAt = Effect.fnUntraced(function* (options: OutboundOptions, place: Located, trunk: OutboundTrunk) {
  const { calls, timings } = options
  const callId = newCallId()
  const status = Deferred.makeUnsafe<number | null>()
  const tell = (sipStatus: number | null): void => void Deferred.doneUnsafe(status, Exit.succeed(sipStatus))
  const nobody = Effect.sync(() => tell(null))
  const credentials = credentialsOf(trunk.credentials)
  const talk = ({ call }: Opened): Effect.Effect<void> => {
    sendOptions(call.sip, place, callId, tell)
    return Effect.asVoid(Effect.timeoutOption(Deferred.await(status), timings.checkMs))
  }
  options.run(
    runCall(
      calls,
      timings,
      openAt(options, place, callId, { user: "", credentials, sipTrace: new SipTrace() }),
      (opened) => Effect.ensuring(talk(opened), nobody)
    ).pipe(Effect.ignore, Effect.ensuring(nobody))
  )
  return yield* Deferred.await(status)
})

const sendOptions = (
  { core, enter }: SipCore,
  place: Located,
  callId: string,
  tell: (status: number | null) => void
): void => {
  const contact = core.configuration.contact.uri
  const target = contact.clone()
  target.host = place.address.includes(":") ? `[${place.address}]` : place.address
  target.port = place.port
  const done = ({ message }: { readonly message: IncomingResponseMessage }): void => tell(message.statusCode ?? null)
  const message = core.makeOutgoingRequestMessage("OPTIONS", target, contact, target, { callId })
  enter(() => core.request(message, { onAccept: done, onReject: done, onRedirect: done }))
}

const newCallId = (): string => `${randomBytes(12).toString("hex")}@parley`
