// Tests of agents: what a user says, and what is expected of the agent's draft. A run is held in writing;
// tools answer with their first mock response.
import { Schema } from "effect"
import { listOf, text, textBetween } from "./Field.ts"
import { pageFields, PageQuery } from "./Page.ts"
import { SessionItem } from "./SessionItem.ts"
import { DynamicVariables } from "./SessionRequest.ts"

/** Tests that can be attached to one agent. */
export const testsPerAgent = 50

const reply = textBetween(1, 1000)
/** A tool by its name or its function's. */
const toolName = textBetween(1, 128)

/** What is expected of the agent in a test. */
export const Expectation = Schema.Union([
  /** In one of the agent's replies, whatever its case. */
  Schema.Struct({ type: Schema.Literal("reply_contains"), text: reply }),
  Schema.Struct({ type: Schema.Literal("reply_not_contains"), text: reply }),
  Schema.Struct({
    type: Schema.Literal("tool_called"),
    tool_name: toolName,
    /** One of its calls has these arguments, and maybe others. */
    arguments: Schema.optionalKey(
      Schema.Record(text(64), Schema.Union([text(4000), Schema.Finite, Schema.Boolean, Schema.Null]))
    )
  }),
  Schema.Struct({ type: Schema.Literal("tool_not_called"), tool_name: toolName }),
  /** Judged by the agent's language model. */
  Schema.Struct({ type: Schema.Literal("criterion"), description: textBetween(1, 500) })
])
export type Expectation = typeof Expectation.Type

const atLeastOne = <S extends Schema.Top>(item: S, max: number) =>
  listOf(item, max).check(Schema.isMinLength(1, { message: "must have at least 1 entry" }))

const fields = {
  description: Schema.optionalKey(text(2000)),
  /** The rules of session creation: what breaks them is dropped. */
  dynamic_variables: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
}
const turns = atLeastOne(textBetween(1, 10_000), 20)
const expectations = atLeastOne(Expectation, 20)

/** A test as it is sent: 1 to 20 turns, 1 to 20 expectations. */
export const AgentTestCreate = Schema.Struct({ name: textBetween(1, 120), ...fields, turns, expectations })
export type AgentTestCreate = typeof AgentTestCreate.Type

/** What is omitted stays; null is refused; lists are replaced whole. */
export const AgentTestPatch = Schema.Struct({
  name: Schema.optionalKey(textBetween(1, 120)),
  ...fields,
  turns: Schema.optionalKey(turns),
  expectations: Schema.optionalKey(expectations)
})
export type AgentTestPatch = typeof AgentTestPatch.Type

/** As it is kept, and as a run keeps it. */
export const TestDefinition = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  turns: Schema.Array(Schema.String),
  dynamic_variables: DynamicVariables,
  expectations: Schema.Array(Expectation)
})
export type TestDefinition = typeof TestDefinition.Type

/** A test as it is returned. */
export const AgentTest = Schema.Struct({
  test_id: Schema.String,
  workspace_id: Schema.String,
  ...TestDefinition.fields,
  /** Agents it is attached to. */
  used_by: Schema.Int,
  created_at: Schema.String,
  updated_at: Schema.String
})
export type AgentTest = typeof AgentTest.Type

/** One page, newest first. */
export const AgentTestPage = Schema.Struct({ tests: Schema.Array(AgentTest), ...pageFields })
/** `search`: part of the name; `agent_id`: attached to it. */
export const AgentTestQuery = {
  search: Schema.optionalKey(text(256)),
  agent_id: Schema.optionalKey(text(128)),
  ...PageQuery
}

/** Left out: every test that is attached to the agent. */
export const TestsRun = Schema.Struct({ test_ids: Schema.optionalKey(listOf(textBetween(1, 128), testsPerAgent)) })
export type TestsRun = typeof TestsRun.Type

/** `error`: the run came to no result. */
export const TestRunStatus = Schema.Literals(["queued", "running", "passed", "failed", "error"])
export type TestRunStatus = typeof TestRunStatus.Type

/** Whether an expectation held, and why. */
export const ExpectationResult = Schema.Struct({
  expectation: Expectation,
  passed: Schema.Boolean,
  reason: Schema.String
})
export type ExpectationResult = typeof ExpectationResult.Type

const summary = {
  run_id: Schema.String,
  batch_id: Schema.String,
  agent_id: Schema.String,
  test_id: Schema.String,
  test_name: Schema.String,
  status: TestRunStatus,
  /** Why the run came to no result; null otherwise. */
  error: Schema.NullOr(Schema.String),
  latency_ms: Schema.NullOr(Schema.Int),
  created_at: Schema.String,
  finished_at: Schema.NullOr(Schema.String)
}
/** A run without what was said. */
export const TestRunSummary = Schema.Struct(summary)
export type TestRunSummary = typeof TestRunSummary.Type

/** A run with what was said and how each expectation fared. */
export const TestRun = Schema.Struct({
  ...summary,
  items: Schema.Array(SessionItem),
  expectations: Schema.Array(ExpectationResult)
})
export type TestRun = typeof TestRun.Type

/** One page, newest first. */
export const TestRunPage = Schema.Struct({ test_runs: Schema.Array(TestRunSummary), ...pageFields })
/** Each given field must match. */
export const TestRunQuery = {
  agent_id: Schema.optionalKey(text(128)),
  test_id: Schema.optionalKey(text(128)),
  batch_id: Schema.optionalKey(text(128)),
  status: Schema.optionalKey(TestRunStatus),
  ...PageQuery
}

const batch = {
  batch_id: Schema.String,
  agent_id: Schema.String,
  /** Of the draft that is tested. */
  config_hash: Schema.String,
  status: Schema.Literals(["running", "completed"]),
  total: Schema.Int,
  passed: Schema.Int,
  failed: Schema.Int,
  errors: Schema.Int,
  created_at: Schema.String,
  finished_at: Schema.NullOr(Schema.String)
}
/** A batch with the counts of its runs. */
export const TestBatchSummary = Schema.Struct(batch)
export type TestBatchSummary = typeof TestBatchSummary.Type
/** A batch with its runs. */
export const TestBatch = Schema.Struct({ ...batch, test_runs: Schema.Array(TestRunSummary) })
export type TestBatch = typeof TestBatch.Type
/** One page, newest first. */
export const TestBatchPage = Schema.Struct({ test_batches: Schema.Array(TestBatchSummary), ...pageFields })
