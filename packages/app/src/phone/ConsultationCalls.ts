// Calls that a call places for itself: a colleague before a transfer, or whom the caller is handed to where the carrier
// refuses. Over the trunk of the number the call is held by, within what that number may call; hung up with the scope
// that asked.
import type { PhonePlan } from "@parley/engine/CallPlan"
import { type Dial, DialFailure } from "@parley/engine/ports/CallParts"
import { PhoneLines } from "@parley/workspace/phone/PhoneLines"
import { Secrets } from "@parley/workspace/storage/Secrets"
import { Context, Effect, Layer } from "effect"
import { AppSettings } from "../AppSettings.ts"
import { destinationFault } from "./dialRules.ts"
import { Telephone } from "./Telephone.ts"
import { headersOf, outboundTrunk } from "./trunks.ts"

/** Calls placed from within a call. */
export class ConsultationCalls extends Context.Service<
  ConsultationCalls,
  {
    /** Fails when nobody takes the call, and where it must not or cannot be placed. */
    readonly dial: Dial
  }
>()("@parley/app/ConsultationCalls") {
  static readonly layer: Layer.Layer<ConsultationCalls, never, AppSettings | PhoneLines | Secrets | Telephone> =
    Layer.effect(
      ConsultationCalls,
      Effect.gen(function* () {
        const lines = yield* PhoneLines
        const secrets = yield* Secrets
        const telephone = yield* Telephone
        const { callCountries: countries, vendor } = yield* AppSettings

        const dial: Dial = Effect.fnUntraced(function* ({ phone, sessionId }, target, ringSeconds) {
          const line = yield* lines.dialled(ownNumber(phone))
          const trunk = line === undefined ? undefined : outboundTrunk(line, secrets.open)
          if (line === undefined || trunk === undefined || telephone.ports === undefined) {
            return yield* new DialFailure({ reason: "failed" })
          }
          const isOwn = yield* lines.isOnPlatform(target)
          if (destinationFault(line, target, { countries, isOwn }) !== undefined) {
            return yield* new DialFailure({ reason: "failed" })
          }
          const headers = headersOf(line, {}, { sessionId, vendor })
          const from = (line.showsOriginalCaller ? phone?.callerNumber : undefined) ?? line.phoneNumber
          return yield* telephone
            .dial({ trunk, from, to: target, headers, ringSeconds })
            .pipe(Effect.mapError(({ status }) => new DialFailure({ reason: status })))
        })
        return { dial }
      })
    )
}

const ownNumber = (phone: PhonePlan | undefined): string => phone?.number ?? ""
