// Calls that a call places for itself: a colleague before a transfer, or whom the caller is handed to where the carrier
// refuses. Over the trunk of the number the call is held by, within what that number may call; hung up with the scope
// that asked.
import type { PhonePlan } from "@parley/engine/CallPlan"
import { type Dial, DialFailure } from "@parley/engine/ports/CallParts"
import type { SipServer } from "@parley/transport/phone/Phone"
import { PhoneLines } from "@parley/workspace/phone/PhoneLines"
import { Secrets } from "@parley/workspace/storage/Secrets"
import { Context, Effect, Layer } from "effect"
import { AppSettings } from "../AppSettings.ts"
import { destinationFault } from "./dialRules.ts"
import { headersOf, outboundTrunk } from "./trunks.ts"

type Door = Pick<SipServer, "dial">

export class ConsultationCalls extends Context.Service<
  ConsultationCalls,
  {
    readonly dial: Dial
    /** From now on calls are placed through this door; undefined: none are. */
    readonly through: (door: Door | undefined) => void
  }
>()("@parley/app/ConsultationCalls") {
  static readonly layer: Layer.Layer<ConsultationCalls, never, PhoneLines | Secrets | AppSettings> = Layer.effect(
    ConsultationCalls,
    Effect.gen(function* () {
      const lines = yield* PhoneLines
      const secrets = yield* Secrets
      const { callCountries: countries, vendor } = yield* AppSettings
      let door: Door | undefined

      const dial: Dial = Effect.fnUntraced(function* ({ phone, sessionId }, target, ringSeconds) {
        const line = yield* lines.dialled(ownNumber(phone))
        const trunk = line === undefined ? undefined : outboundTrunk(line, secrets.open)
        if (line === undefined || trunk === undefined || door === undefined) {
          return yield* new DialFailure({ reason: "failed" })
        }
        const isOwn = yield* lines.isOnPlatform(target)
        if (destinationFault(line, target, { countries, isOwn }) !== undefined) {
          return yield* new DialFailure({ reason: "failed" })
        }
        const headers = headersOf(line, {}, { sessionId, vendor })
        const from = (line.showsOriginalCaller ? phone?.callerNumber : undefined) ?? line.phoneNumber
        const dialling = door.dial({ trunk, from, to: target, headers, ringSeconds })
        const outcome = yield* Effect.promise(() => dialling.outcome).pipe(
          Effect.onInterrupt(() => Effect.sync(() => dialling.cancel()))
        )
        if (outcome.status !== "answered") return yield* new DialFailure({ reason: outcome.status })
        const { leg } = outcome
        return yield* Effect.acquireRelease(Effect.succeed(leg), () => Effect.sync(() => leg.close("agent_hangup")))
      })
      return { dial, through: (opened) => (door = opened) }
    })
  )
}

const ownNumber = (phone: PhonePlan | undefined): string => phone?.number ?? ""
