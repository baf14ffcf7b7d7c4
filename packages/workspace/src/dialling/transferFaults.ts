// Transfer destinations that could never be called: by none of the numbers that the agent is bound to. Judged where the
// destinations or the numbers change; whoever calls judges again, as everything else may have changed meanwhile.
import type { StoredConfig } from "@parley/contract/AgentConfig/AgentConfig"
import { PhoneProvider } from "@parley/contract/PhoneNumber"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { rowsOf } from "../storage/rows.ts"
import { destinationFault, sentenceOf } from "./destinationFault.ts"

type Destinations = StoredConfig["conversation"]["transfer_destinations"]

/** A destination that is wrong: its place in the list, its field, and what is wrong with it. */
export interface TransferFault {
  readonly index: number
  readonly field: "phone_number" | "sip_uri"
  readonly message: string
}

/** Kinds of the numbers that an agent is bound to. */
export const providersOf = (
  sql: SqlClient.SqlClient,
  agentId: string
): Effect.Effect<ReadonlyArray<typeof PhoneProvider.Type>> =>
  providerRows(sql`SELECT DISTINCT provider FROM phone_numbers
    WHERE agent_id = ${agentId} AND status IN ('provisioning', 'active')`).pipe(
    Effect.orDie,
    Effect.map((rows) => rows.map(({ provider }) => provider))
  )

/** None where the agent has no number: nothing is known then. `countries`: ISO 3166-1 alpha-2. */
export const transferFaults = (
  destinations: Destinations,
  providers: ReadonlyArray<typeof PhoneProvider.Type>,
  countries: ReadonlyArray<string>
): ReadonlyArray<TransferFault> => {
  if (providers.length === 0) return []
  return destinations.flatMap(({ phone_number, sip_uri }, index) => {
    const target = sip_uri ?? phone_number ?? ""
    const [first, ...rest] = providers.map((provider) =>
      destinationFault(provider, target, { countries, isOwn: false })
    )
    if (first === undefined || rest.includes(undefined)) return []
    const field = sip_uri === null ? "phone_number" : "sip_uri"
    return [{ index, field, message: sentenceOf(first, countries) }]
  })
}

const providerRows = rowsOf("phone_numbers", Schema.Struct({ provider: PhoneProvider }))
