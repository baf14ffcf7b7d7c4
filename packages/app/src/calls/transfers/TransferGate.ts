// What stands before a call that a call in progress leads to, whoever places it: the far side's carrier by our REFER, or
// we. Asked once for each, just before the REFER or the INVITE leaves; what it says no to is not sent. The same rules as
// for calls that the API places; a call that we place takes a place, and its seconds are charged.
import type { CallReason, DialRefusal } from "@parley/engine/ports/CallParts"
import type { PhoneLine, PhoneLines } from "@parley/workspace/phone/PhoneLines"
import { SecondLegs } from "@parley/workspace/sessions/SecondLegs"
import { Context, Data, Effect, Layer, type Scope } from "effect"
import type { AppSettings } from "../../AppSettings.ts"
import type { Billing } from "@parley/workspace/billing/Billing"
import { makeDialPermission } from "../../phone/dialPermission.ts"
import { CallPlaces } from "../CallPlaces.ts"

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

/** It must not be called. */
class TransferRefused extends Data.TaggedError("TransferRefused")<{ readonly reason: DialRefusal }> {}

/** A call that may be placed. */
export interface AllowedTransfer {
  /** Somebody took it: from now on it costs. */
  readonly answered: Effect.Effect<void>
}

/** Whether a call may be led to somebody else. */
export class TransferGate extends Context.Service<
  TransferGate,
  {
    /** Counts it among the workspace's calls. A call that we place has its place until the scope closes: then it is over. */
    readonly enter: (request: TransferRequest) => Effect.Effect<AllowedTransfer, TransferRefused, Scope.Scope>
  }
>()("@parley/app/TransferGate") {
  static readonly layer: Layer.Layer<
    TransferGate,
    never,
    AppSettings | Billing | CallPlaces | PhoneLines | SecondLegs
  > = Layer.effect(
    TransferGate,
    Effect.gen(function* () {
      const permission = yield* makeDialPermission
      const places = yield* CallPlaces
      const legs = yield* SecondLegs

      const placeOf = ({ agentId, workspaceId }: PhoneLine) =>
        Effect.acquireRelease(
          Effect.suspend(() => {
            const place = places.take({ tenant: { workspaceId, agentId: agentId ?? "" } })
            return place._tag === "NoPlace" ? refused("no_place") : Effect.succeed(place)
          }),
          (place) =>
            Effect.sync(() => {
              places.leave(place)
              place.settled()
            })
        )

      return {
        enter: Effect.fn("TransferGate.enter")(function* ({ line, sessionId, target, way }) {
          const { workspaceId } = line
          if (!(yield* permission.mayDial(workspaceId))) return yield* refused("dialling_off")
          if ((yield* permission.destinationFault(line, target)) !== undefined) return yield* refused("not_allowed")
          yield* Effect.mapError(permission.admit(workspaceId), () => new TransferRefused({ reason: "no_credit" }))
          if (way !== "refer") yield* placeOf(line)
          const id = yield* Effect.acquireRelease(
            legs
              .place(workspaceId, sessionId, way)
              .pipe(Effect.mapError(() => new TransferRefused({ reason: "limit_reached" }))),
            legs.ended
          )
          return { answered: legs.answered(id) }
        })
      }
    })
  )
}

const refused = (reason: DialRefusal) => Effect.fail(new TransferRefused({ reason }))
