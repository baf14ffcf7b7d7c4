// Whether a number may be bound to an agent: it is there, and hands calls to nobody whom none of its numbers could call.
import { fault, type Fault } from "@parley/contract/Fault"
import type { PhoneProvider } from "@parley/contract/PhoneNumber"
import { Effect, Option } from "effect"
import type { SqlClient } from "effect/sql"
import { agentFinder, decodeConfig } from "../agents/AgentRow.ts"
import { providersOf, transferFaults } from "../dialling/transferFaults.ts"

/** `countries`: that bought numbers may call; undefined: destinations are judged only when they are called. */
export const makeBindingFaults = (sql: SqlClient.SqlClient, countries: ReadonlyArray<string> | undefined) => {
  const find = agentFinder(sql)
  return Effect.fnUntraced(function* (
    workspace: string,
    id: string | null | undefined,
    provider: PhoneProvider
  ): Effect.fn.Return<ReadonlyArray<Fault>> {
    if (id === undefined || id === null) return []
    const agent = yield* Effect.option(find(workspace, id))
    if (Option.isNone(agent)) return [fault(["body", "agent_id"], "unknown agent")]
    if (countries === undefined) return []
    const { transfer_destinations } = decodeConfig(agent.value.draft).conversation
    const providers = [provider, ...(yield* providersOf(sql, id))]
    return transferFaults(transfer_destinations, providers, countries).map(({ field, index, message }) =>
      fault(["body", "agent_id"], `its transfer destination ${index + 1} cannot be called: ${field} ${message}`)
    )
  })
}
