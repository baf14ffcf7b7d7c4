// Calls that a call places for itself: a colleague before a transfer, or whom the caller is handed to where the carrier
// refuses. Over the trunk of the number the call is held by, within what `TransferGate` allows; hung up with the scope
// that asked.
import { type Dial, DialFailure, type ReferRefusal } from "@parley/engine/ports/CallParts"
import { PhoneLines } from "@parley/workspace/phone/PhoneLines"
import { Secrets } from "@parley/workspace/storage/Secrets"
import { Context, Effect, Layer } from "effect"
import { AppSettings } from "../../AppSettings.ts"
import { Telephone } from "../../phone/Telephone.ts"
import { TransferGate } from "./TransferGate.ts"
import { headersOf, outboundTrunk } from "../../phone/trunks.ts"

/** Calls placed from within a call. */
export class ConsultationCalls extends Context.Service<
  ConsultationCalls,
  {
    /** Fails when nobody takes the call, and where it must not or cannot be placed. */
    readonly dial: Dial
    readonly referRefusal: ReferRefusal
  }
>()("@parley/app/ConsultationCalls") {
  static readonly layer: Layer.Layer<
    ConsultationCalls,
    never,
    AppSettings | PhoneLines | Secrets | Telephone | TransferGate
  > = Layer.effect(
    ConsultationCalls,
    Effect.gen(function* () {
      const lines = yield* PhoneLines
      const secrets = yield* Secrets
      const telephone = yield* Telephone
      const gate = yield* TransferGate
      const { vendor } = yield* AppSettings

      const dial: Dial = Effect.fnUntraced(function* ({ phone, sessionId }, target, ringSeconds, way) {
        const line = yield* lines.ofSession(sessionId)
        const trunk = line === undefined ? undefined : outboundTrunk(line, secrets.of)
        if (line === undefined || trunk === undefined || telephone.ports === undefined) {
          return yield* new DialFailure({ reason: "failed" })
        }
        const allowed = yield* gate
          .enter({ sessionId, line, target, way })
          .pipe(Effect.mapError(({ reason }) => new DialFailure({ reason })))
        const headers = headersOf(line, {}, { sessionId, vendor })
        const from = (line.showsOriginalCaller ? phone?.callerNumber : undefined) ?? line.phoneNumber
        return yield* telephone.dial({ trunk, from, to: target, headers, ringSeconds }).pipe(
          Effect.tap(() => allowed.answered),
          Effect.mapError(({ status }) => new DialFailure({ reason: status }))
        )
      })

      const referRefusal: ReferRefusal = Effect.fnUntraced(function* ({ sessionId }, target) {
        const line = yield* lines.ofSession(sessionId)
        if (line === undefined) return "not_allowed"
        return yield* gate
          .enter({ sessionId, line, target, way: "refer" })
          .pipe(Effect.scoped, Effect.match({ onFailure: ({ reason }) => reason, onSuccess: () => undefined }))
      })
      return { dial, referRefusal }
    })
  )
}
