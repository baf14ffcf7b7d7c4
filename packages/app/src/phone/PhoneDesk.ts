// The telephone's desk: opens the door where the settings ask for one, welcomes what rings, places what is asked for,
// and says goodbye when the service stops. With the door shut, numbers are kept all the same and placing is refused.
import type { PhoneCallCreate, PhoneCallQueued } from "@parley/contract/PhoneCall"
import type { IncomingCall, SipServer, SipServerOptions } from "@parley/transport/phone/Phone"
import { newId } from "@parley/workspace/storage/Id"
import { Billing } from "@parley/workspace/billing/Billing"
import { SafeHttp } from "@parley/workspace/outbound/SafeHttp"
import { PhoneCalls } from "@parley/workspace/phone/PhoneCalls"
import { PhoneLines } from "@parley/workspace/phone/PhoneLines"
import { Secrets } from "@parley/workspace/storage/Secrets"
import { SessionLife } from "@parley/workspace/sessions/SessionLife"
import { StartFault } from "@parley/workspace/storage/StartFault"
import { Versions } from "@parley/workspace/agents/Versions"
import { Context, Effect, FiberSet, Layer } from "effect"
import { readFileSync } from "node:fs"
import { AppSettings, type SipSettings } from "../AppSettings.ts"
import { CallPlans } from "../plan/CallPlans.ts"
import { ExtraBodies } from "../calls/ExtraBodies.ts"
import { drainMs, HeldCalls } from "../calls/HeldCalls.ts"
import { VoiceChoice } from "../speech/VoiceChoice.ts"
import { ConsultationCalls } from "./ConsultationCalls.ts"
import { arrive, lookUpMs } from "./arrivals.ts"
import { type DialParts, place, type PlaceFault } from "./Dials.ts"
import { CallTraces } from "./CallTraces.ts"
import { SipServers } from "./SipServers.ts"
import { inboundTrunk } from "./trunks.ts"

export class PhoneDesk extends Context.Service<
  PhoneDesk,
  {
    /** Answers before it rings. */
    readonly place: (
      workspace: string,
      request: PhoneCallCreate,
      idempotencyKey: string | undefined
    ) => Effect.Effect<PhoneCallQueued, PlaceFault>
    /** As bound; undefined while the telephone is switched off. */
    readonly ports: SipServer["ports"] | undefined
    /** No further calls; those that ring are given up, those that are up say goodbye. Happens once. */
    readonly drain: Effect.Effect<void>
  }
>()("@parley/app/PhoneDesk") {
  static readonly layer: Layer.Layer<
    PhoneDesk,
    StartFault,
    | CallPlans
    | ConsultationCalls
    | ExtraBodies
    | HeldCalls
    | Billing
    | PhoneCalls
    | SipServers
    | PhoneLines
    | SafeHttp
    | Secrets
    | SessionLife
    | AppSettings
    | Versions
    | VoiceChoice
  > = Layer.effect(
    PhoneDesk,
    Effect.gen(function* () {
      const settings = yield* AppSettings
      const lines = yield* PhoneLines
      const secrets = yield* Secrets
      const held = yield* HeldCalls
      const calls = yield* PhoneCalls
      const doors = yield* SipServers
      const consults = yield* ConsultationCalls
      const fibers = yield* FiberSet.make<void>()
      const run = Effect.runForkWith(yield* Effect.context<never>())
      const promise = Effect.runPromiseWith(yield* Effect.context<never>())
      const fork = (effect: Effect.Effect<void>): void => void run(FiberSet.run(fibers, effect))
      const keepSipTrace = (sessionId: string, sipTrace: ReadonlyArray<unknown>): void =>
        fork(
          Effect.catchCause(calls.keepSipTrace(sessionId, sipTrace), () =>
            Effect.logWarning("What the peers of a call said could not be kept")
          )
        )
      const sipTraces = new CallTraces(keepSipTrace)
      let closed = false

      const shared = {
        lines,
        held,
        calls,
        sipTraces,
        versions: yield* Versions,
        billing: yield* Billing,
        life: yield* SessionLife,
        plans: yield* CallPlans
      }
      const arrivals = {
        ...shared,
        init: {
          http: yield* SafeHttp,
          secrets,
          vendor: settings.vendor,
          userAgent: settings.userAgent
        }
      }

      const onCall = (incoming: IncomingCall): void => {
        const seat = newId("seat")
        if (closed || !held.seats.take(seat)) return incoming.refuse(503)
        fork(arrive(arrivals, incoming, seat))
      }

      const door = yield* open({
        settings: settings.sip,
        userAgent: settings.userAgent,
        host: settings.host,
        doors,
        trunkOf: (dialled) =>
          promise(
            Effect.map(Effect.timeout(lines.dialled(dialled), lookUpMs), (line) => inboundTrunk(line, secrets.open))
          ),
        onCall,
        onTrace: (callId, sipTrace) => sipTraces.tell(callId, sipTrace)
      })

      consults.through(door)

      const dials: DialParts = {
        ...shared,
        door: () => (closed ? undefined : door),
        voices: yield* VoiceChoice,
        secrets,
        extraBodies: yield* ExtraBodies,
        countries: settings.callCountries,
        vendor: settings.vendor,
        fork
      }

      // Once: the door is not closed twice.
      const drain = yield* Effect.cached(
        Effect.gen(function* () {
          closed = true
          consults.through(undefined)
          held.giveAllUp()
          yield* held.drain
          if (door !== undefined)
            yield* Effect.timeoutOption(
              Effect.promise(() => door.close()),
              drainMs
            )
          yield* Effect.timeoutOption(FiberSet.awaitEmpty(fibers), drainMs)
        })
      )
      yield* Effect.addFinalizer(() => drain)

      return {
        place: (workspace, request, key) => Effect.withSpan(place(dials, workspace, request, key), "PhoneDesk.place"),
        ports: door?.ports,
        drain
      }
    })
  )
}

interface Opening extends Pick<SipServerOptions, "trunkOf" | "onCall" | "host" | "userAgent"> {
  readonly settings: SipSettings
  readonly doors: SipServers["Service"]
  readonly onTrace: NonNullable<SipServerOptions["onTrace"]>
}

const open = Effect.fnUntraced(function* ({ doors, settings, ...rest }: Opening) {
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
  const opening = Effect.tryPromise({
    try: () =>
      doors.open({
        ...rest,
        port,
        tls: secure,
        publicAddress: settings.publicAddress,
        rtpPorts: settings.rtpPorts
      }),
    catch: (error) => new StartFault({ message: `Cannot open the telephone's ports: ${codeOf(error)}` })
  })
  if (settings.asked || tls !== undefined) return yield* opening
  return yield* Effect.catch(opening, () =>
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
