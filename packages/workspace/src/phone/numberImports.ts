// What an import may be: how wide its addresses, and how many of them a workspace may have. An import proves nothing of
// who has the number, so that it must not reach for everybody's calls, nor fill the platform.
import { Conflict } from "@parley/contract/Errors"
import { fault, type Fault } from "@parley/contract/Fault"
import type { PhoneNumberCreate } from "@parley/contract/PhoneNumber"
import type { TrunkInput } from "@parley/contract/SipTrunk"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { type IpBlock, parseBlock } from "../outbound/IpAddress.ts"
import { onlyRow, rowsOf } from "../storage/rows.ts"
import { newId } from "../storage/Id.ts"
import type { OwnedSecrets } from "../storage/SecretBox.ts"
import { insertNumber, isOwn, numberTaken } from "./PhoneNumberRow.ts"
import { sealTrunk } from "./Trunk.ts"

/** Addresses that are none, and blocks that stand for nearly everybody where no password is asked for. */
export const addressFaults = (input: TrunkInput): ReadonlyArray<Fault> =>
  (input.inbound_allowed_addresses ?? []).flatMap((address, index) => {
    const block = parseBlock(address)
    const wrong =
      block === undefined
        ? "must be an IP address or a block such as 203.0.113.0/24"
        : isWide(block) && (input.inbound_auth_username ?? "") === ""
          ? "is too wide without inbound_auth_username: at most /8 for IPv4 and /16 for IPv6"
          : undefined
    return wrong === undefined ? [] : [fault(["body", "inbound_allowed_addresses", index], wrong)]
  })

const isWide = ({ base, bits }: IpBlock): boolean => {
  if (base.family === 4) return bits < 8
  // Addresses of IPv4 within IPv6 (RFC 4291, 2.5.5.2).
  const isMapped = base.value >> 32n === 0xffffn
  return bits < (isMapped ? 104 : 16)
}

/** Stores an import. One that another workspace has made too says nothing of whose the number is; a bought one is refused. */
export const makeImport = (sql: SqlClient.SqlClient, most: number, sealOf: (id: string) => OwnedSecrets["seal"]) =>
  Effect.fnUntraced(
    function* (workspace: string, input: PhoneNumberCreate) {
      yield* allowImport(sql, workspace, most)
      if (yield* isOwn(sql, workspace, input.phone_number)) return yield* numberTaken
      const id = newId("phone")
      const start = {
        status: "active",
        trunk: sealTrunk(input, undefined, sealOf(id)),
        use_original_caller: null,
        caller_id_sync_status: "carrier_managed"
      } as const
      return yield* insertNumber(sql, workspace, input, start, id)
    },
    (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
  )

/** Part of the transaction that stores the import: until its end nobody else of the workspace counts. `most`: at a time, and in 24 hours. */
const allowImport = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  workspace: string,
  most: number
): Effect.fn.Return<void, Conflict | SqlError> {
  yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${`numbers of ${workspace}`}, 0))`
  const { kept, today } = yield* importCounts(sql`SELECT count(*) FILTER (WHERE status <> 'released')::int AS kept,
      count(*) FILTER (WHERE created_at > now() - interval '1 day')::int AS today
    FROM phone_numbers WHERE workspace_id = ${workspace} AND provider = 'sip'`).pipe(onlyRow)
  if (kept >= most) return yield* new Conflict({ message: `A workspace may have ${most} imported numbers` })
  if (today >= most) return yield* new Conflict({ message: `A workspace may import ${most} numbers in 24 hours` })
})

const importCounts = rowsOf("phone_numbers", Schema.Struct({ kept: Schema.Int, today: Schema.Int }))
