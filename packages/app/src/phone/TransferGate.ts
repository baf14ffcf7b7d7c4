// The one question before a call in progress may lead to another one, whoever places it: the far side's carrier by our
// REFER, or we. Asked once for each, just before the REFER or the INVITE leaves; what it says no to is not sent. Limits on
// what may be spent belong here.
import type { CallReason } from "@parley/engine/ports/CallParts"
import { type PhoneLine, PhoneLines } from "@parley/workspace/phone/PhoneLines"
import { Context, Effect, Layer } from "effect"
import { AppSettings } from "../AppSettings.ts"
import { type DestinationFault, destinationFault } from "./dialRules.ts"

/** What a call in progress wants. */
export interface TransferRequest {
  readonly sessionId: string
  /** The number of ours that the call is held by, whose trunk would be called over. */
  readonly line: PhoneLine
  /** E.164 number, or a `sip:` URI. */
  readonly target: string
  /** `refer`: the carrier is asked to place it. The others: we place it, as a `Dial` does. */
  readonly way: "refer" | CallReason
}

/** Whether a call may be led to somebody else. */
export class TransferGate extends Context.Service<
  TransferGate,
  {
    /** Why not; undefined when it may. */
    readonly fault: (request: TransferRequest) => Effect.Effect<DestinationFault | undefined>
  }
>()("@parley/app/TransferGate") {
  /** What the number may call by itself, by each way. */
  static readonly layer: Layer.Layer<TransferGate, never, AppSettings | PhoneLines> = Layer.effect(
    TransferGate,
    Effect.gen(function* () {
      const lines = yield* PhoneLines
      const { callCountries: countries } = yield* AppSettings
      return {
        fault: ({ line, target }) =>
          Effect.map(lines.isOnPlatform(target), (isOwn) => destinationFault(line, target, { countries, isOwn }))
      }
    })
  )
}
