// The service's telephone line to the world: the SIP server where the settings ask for one, calls it brings and calls it
// places, and the SIP traces of calls. Closed after the calls, so that they can be hung up over it.
import { CallTraces } from "./CallTraces.ts"
import type {
  DialRequest,
  IncomingCall,
  PhoneLeg,
  SipServer,
  SipServerOptions,
  SipTraceLine
} from "@parley/transport/phone/Phone"
import { makeSipServer } from "@parley/transport/sip/SipServer"
import type { FailedDial } from "@parley/workspace/sessions/SessionEnding"
import { readAllowed } from "@parley/workspace/outbound/AllowedPrivate"
import { isReachable } from "@parley/workspace/outbound/reachable"
import { Platform } from "@parley/workspace/Platform"
import { PhoneLines } from "@parley/workspace/phone/PhoneLines"
import { Secrets } from "@parley/workspace/storage/Secrets"
import { StartFault } from "@parley/workspace/storage/StartFault"
import { Cause, Context, Data, Effect, Layer, type Scope } from "effect"
import { readFileSync } from "node:fs"
import { AppSettings, type SipSettings } from "../AppSettings.ts"
import { inboundTrunk } from "./trunks.ts"

/** Until it is known whether a number is ours. */
export const lookUpMs = 5_000
/** Ports and sockets are free by then. */
const closeMs = 1_500

/** Nobody took a call that we placed. */
class NotAnswered extends Data.TaggedError("NotAnswered")<{ readonly status: FailedDial }> {}

/** Makes the SIP server; tests give one that has no network. */
export type OpenSipServer = (options: SipServerOptions) => Promise<SipServer>

/** The SIP server of the service. */
export class Telephone extends Context.Service<
  Telephone,
  {
    /** As bound; undefined while the telephone is switched off. */
    readonly ports: SipServer["ports"] | undefined
    /**
     * Places a call; interrupted, it is given up. The leg is hung up with the scope. Dies while switched off. `onOver` is
     * told the Call-ID of a call that nobody took, also after an interruption, once there is nothing left of it.
     */
    readonly dial: (
      request: DialRequest,
      onOver?: (callId: string) => void
    ) => Effect.Effect<PhoneLeg, NotAnswered, Scope.Scope>
    /** Who takes calls that come in, until the scope closes; without anybody they get 503. Must decide at once. */
    readonly answerWith: (onCall: (incoming: IncomingCall) => void) => Effect.Effect<void, never, Scope.Scope>
    /** What the peers of a call without a leg said, as soon as that is over; nothing when it takes too long. */
    readonly traceOf: (callId: string) => Effect.Effect<ReadonlyArray<SipTraceLine>>
  }
>()("@parley/app/Telephone") {
  static readonly layer: Layer.Layer<Telephone, StartFault, AppSettings | PhoneLines | Platform | Secrets> =
    Layer.effect(
      Telephone,
      Effect.suspend(() => make(makeSipServer))
    )

  static readonly layerWith = (
    open: OpenSipServer
  ): Layer.Layer<Telephone, StartFault, AppSettings | PhoneLines | Platform | Secrets> =>
    Layer.effect(Telephone, make(open))
}

const make = Effect.fnUntraced(function* (
  open: OpenSipServer
): Effect.fn.Return<Telephone["Service"], StartFault, AppSettings | PhoneLines | Platform | Secrets | Scope.Scope> {
  const { host, sip, userAgent } = yield* AppSettings
  const { allowedPrivate } = yield* Platform
  const allowed = readAllowed(allowedPrivate)
  const lines = yield* PhoneLines
  const secrets = yield* Secrets
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const promise = Effect.runPromiseWith(yield* Effect.context<never>())
  const traces = new CallTraces()
  let onCall = refuseAll
  const server = yield* opened(open, sip, {
    host,
    userAgent,
    mayReach: (address, name) => isReachable(allowed, address, name?.toLowerCase()),
    handlers: {
      trunksOf: (dialled) =>
        promise(
          Effect.map(Effect.timeout(lines.dialled(dialled), lookUpMs), (found) =>
            found.flatMap((line) => inboundTrunk(line, secrets.of) ?? [])
          )
        ),
      onCall: (incoming) => onCall(incoming),
      onTrace: (callId, trace) => traces.tell(callId, trace),
      onFault: (error) => fork(Effect.logError("A telephone call broke", Cause.die(error)))
    }
  })

  return {
    ports: server?.ports,
    dial: (request, onOver) =>
      server === undefined ? Effect.die(new Error("the telephone is switched off")) : dial(server, request, onOver),
    answerWith: (take) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => (onCall = take)),
          () => Effect.sync(() => (onCall = refuseAll))
        )
      ),
    traceOf: (callId) => traces.of(callId)
  }
})

const refuseAll = (incoming: IncomingCall): void => incoming.refuse(503)

/** The answer and the scope that hangs up are one step: an interruption in between would leave a leg to nobody. */
const dial = (server: SipServer, request: DialRequest, onOver: (callId: string) => void = () => undefined) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const dialling = server.dial(request)
      void dialling.outcome.then(({ callId, status }) => status !== "answered" && onOver(callId))
      const outcome = yield* restore(Effect.promise(() => dialling.outcome)).pipe(
        Effect.onInterrupt(() => Effect.sync(() => dialling.cancel()))
      )
      if (outcome.status !== "answered") return yield* new NotAnswered(outcome)
      const { leg } = outcome
      yield* Effect.addFinalizer(() => Effect.sync(() => leg.close("agent_hangup")))
      return leg
    })
  )

interface Opening extends Pick<SipServerOptions, "handlers" | "mayReach" | "userAgent"> {
  readonly host: string
}

/** Undefined when it is switched off, or nobody asked for its port and the port is taken. */
const opened = Effect.fnUntraced(function* (open: OpenSipServer, settings: SipSettings, opening: Opening) {
  const { port, tls } = settings
  if (port === undefined && tls === undefined) return undefined
  const secure =
    tls === undefined
      ? undefined
      : {
          port: tls.port,
          certificate: yield* readPem("PARLEY_SIP_TLS_CERT", tls.certificateFile),
          key: yield* readPem("PARLEY_SIP_TLS_KEY", tls.keyFile)
        }
  const { publicAddress, rtpPorts } = settings
  const { handlers, host, mayReach, userAgent } = opening
  const network = { host, port, tls: secure, publicAddress, rtpPorts }
  const acquired = Effect.acquireRelease(
    Effect.tryPromise({
      try: () => open({ network, handlers, mayReach, userAgent }),
      catch: (error) => new StartFault({ message: `Cannot open the telephone's ports: ${codeOf(error)}` })
    }),
    (server) =>
      Effect.timeoutOption(
        Effect.promise(() => server.close()),
        closeMs
      )
  )
  if (settings.asked || tls !== undefined) return yield* acquired
  return yield* Effect.catch(acquired, () =>
    Effect.as(
      Effect.logWarning(`There is no telephone: port ${port} is taken. Choose another one by PARLEY_SIP_PORT`),
      undefined
    )
  )
})

const readPem = (name: string, file: string) =>
  Effect.try({
    try: () => readFileSync(file, "utf8"),
    catch: (error) => new StartFault({ message: `${name}: cannot read the file (${codeOf(error)})` })
  })

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error ? String(error.code) : "no reason was given"
