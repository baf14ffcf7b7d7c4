// Rows of `agent_tests`: how one is found, decoded and shown.
import { type AgentTest, TestDefinition } from "@parley/contract/AgentTest"
import { Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { finder, type FindRecord } from "../storage/records.ts"
import { rowsOf } from "../storage/rows.ts"

const TestRow = Schema.Struct({
  seq: Schema.BigInt,
  id: Schema.String,
  workspace_id: Schema.String,
  /** For `decodeTest`. */
  definition: Schema.Unknown,
  created_at: Schema.Date,
  updated_at: Schema.Date,
  /** Agents it is attached to; only where it was asked for. */
  used_by: Schema.optionalKey(Schema.Int)
})
/** A test as it is stored. */
export type TestRow = typeof TestRow.Type

/** Rows of `agent_tests`, with or without `used_by`. */
export const testRows = rowsOf("agent_tests", TestRow)

/** The column `used_by`; `t` is the test. */
export const testUsers = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`(SELECT count(*)::int FROM attached_tests x JOIN agents a ON a.id = x.agent_id
    WHERE x.test_id = t.id AND a.deleted_at IS NULL) AS used_by`

/** Finds a test with how many agents it is attached to. */
export const testFinder = (sql: SqlClient.SqlClient): FindRecord<TestRow> =>
  finder(sql, { table: "agent_tests", noun: "Test", read: testRows, columns: sql`t.*, ${testUsers(sql)}` })

/** Dies on a definition that no version of the service wrote. */
export const decodeTest: (stored: unknown) => TestDefinition = Schema.decodeUnknownSync(TestDefinition)

/** A test as the API shows it. */
export const showTest = (row: TestRow): AgentTest => ({
  test_id: row.id,
  workspace_id: row.workspace_id,
  ...decodeTest(row.definition),
  used_by: row.used_by ?? 0,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString()
})
