// What holds for every call that leaves one of our numbers, whether the API places it or a call leads to it: the
// operator's permission, the destination, and the balance. In the order that they are looked at.
import { Billing } from "@parley/workspace/billing/Billing"
import { type DestinationFault, destinationFault } from "@parley/workspace/dialling/destinationFault"
import { type PhoneLine, PhoneLines } from "@parley/workspace/phone/PhoneLines"
import { Effect } from "effect"
import { AppSettings } from "../AppSettings.ts"

/** The permission of a workspace, the destinations of a number, and the balance. */
export const makeDialPermission = Effect.gen(function* () {
  const billing = yield* Billing
  const lines = yield* PhoneLines
  const { callCountries: countries } = yield* AppSettings
  return {
    mayDial: lines.mayDial,
    /** Why nobody may be called there from this number. */
    destinationFault: (line: PhoneLine, to: string): Effect.Effect<DestinationFault | undefined> =>
      Effect.map(lines.isOwn(line.workspaceId, to), (isOwn) =>
        destinationFault(line.provider, to, { countries, isOwn })
      ),
    admit: (workspace: string) => billing.admit(workspace, { kind: "agent", model: "" })
  }
})
