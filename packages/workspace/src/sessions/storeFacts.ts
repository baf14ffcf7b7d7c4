// The facts of a live call as rows: its items, the latency of its turns, its journal. An item told again replaces the
// one of its key. Of a preview only the journal is kept.
import type { Fact } from "@parley/contract/Fact"
import type { SessionItem } from "@parley/contract/SessionItem"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { rowsOf } from "../storage/rows.ts"
import { storableJson } from "../storage/storableJson.ts"

/** Part of the caller's transaction. Facts of an unknown or erased session are dropped. */
export const storeFacts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  id: string,
  facts: ReadonlyArray<Fact>
) {
  const [known] = yield* previewRows(sql`UPDATE sessions SET last_fact_at = now()
    WHERE id = ${id} AND erased_at IS NULL RETURNING preview`)
  if (known === undefined) return
  const { entries, items, turns } = sortFacts(facts)
  if (items.length > 0 && !known.preview) {
    yield* sql`INSERT INTO session_items (session_id, key, rank, created_at, item)
      SELECT ${id}, f->>'key', (f->>'rank')::smallint, (f->>'at')::timestamptz, f->'item'
      FROM jsonb_array_elements(${storableJson(items)}::jsonb) WITH ORDINALITY AS told(f, n) ORDER BY n
      ON CONFLICT (session_id, key) DO UPDATE SET item = excluded.item`
  }
  if (turns.length > 0 && !known.preview) {
    yield* sql`INSERT INTO session_turns (session_id, turn_id, latency)
      SELECT ${id}, f->>'turn_id', f FROM jsonb_array_elements(${storableJson(turns)}::jsonb)
        WITH ORDINALITY AS told(f, n) ORDER BY n
      ON CONFLICT (session_id, turn_id) DO UPDATE SET latency = excluded.latency`
  }
  if (entries.length > 0) {
    yield* sql`INSERT INTO session_journal (session_id, entry)
      SELECT ${id}, f FROM jsonb_array_elements(${storableJson(entries)}::jsonb)
        WITH ORDINALITY AS told(f, n) ORDER BY n`
  }
})

const previewRows = rowsOf("sessions", Schema.Struct({ preview: Schema.Boolean }))

/** Of facts with one key the last counts: one statement cannot touch a row twice. */
const sortFacts = (facts: ReadonlyArray<Fact>) => {
  const items = new Map<string, object>()
  const turns = new Map<string, object>()
  const entries: Array<object> = []
  for (const fact of facts) {
    if (fact._tag === "ItemRecorded") {
      const key = keyOf(fact.item)
      items.set(key, { key, rank: rank[fact.item.type], at: fact.item.created_at, item: fact.item })
    } else if (fact._tag === "TurnMeasured") {
      turns.set(fact.latency.turn_id, fact.latency)
    } else if (fact._tag === "Journaled") {
      entries.push(fact.entry)
    }
  }
  return { items: [...items.values()], turns: [...turns.values()], entries }
}

/** Of items of one moment the messages come first. */
const rank = { message: 0, tool_call: 1, tool_result: 2 } as const

const keyOf = (item: SessionItem): string =>
  item.type === "message" ? `message/${item.id}` : `${item.type}/${item.call_id}`
