// Where numbers are bought: whoever manages numbers for the platform. What it says no to is told to the customer.
import type { AvailableNumber, AvailableQuery } from "@parley/contract/PhoneNumber"
import { Context, Data, Effect } from "effect"
import type { StoredTrunk } from "./Trunk.ts"

/** What the inventory said no to. */
export class InventoryFault extends Data.TaggedError("InventoryFault")<{
  /** For the number's record: no address, no credential. */
  readonly message: string
}> {}

/** Port: numbers for sale. */
export class Inventory extends Context.Service<
  Inventory,
  {
    /** For sale now, at most 50. */
    readonly available: (query: AvailableQuery) => Effect.Effect<ReadonlyArray<Omit<AvailableNumber, "monthly_price">>>
    readonly isAvailable: (phoneNumber: string) => Effect.Effect<boolean>
    /** From now on it is ours. */
    readonly buy: (phoneNumber: string) => Effect.Effect<void, InventoryFault>
    readonly release: (phoneNumber: string) => Effect.Effect<void, InventoryFault>
    /** Which number a target of a transfer sees, told to the carrier. */
    readonly syncCallerId: (phoneNumber: string, useOriginalCaller: boolean) => Effect.Effect<void, InventoryFault>
    /** Where a number's calls come from and go to. */
    readonly trunkOf: (phoneNumber: string) => Effect.Effect<StoredTrunk | undefined>
  }
>()("@parley/workspace/Inventory") {}

const answerMs = 15_000

/** The step, or an InventoryFault when the inventory has not answered within 15 s. */
export const asked = <A>(step: Effect.Effect<A, InventoryFault>): Effect.Effect<A, InventoryFault> =>
  Effect.timeoutOrElse(step, {
    duration: answerMs,
    orElse: () => new InventoryFault({ message: "The inventory did not answer in time" })
  })
