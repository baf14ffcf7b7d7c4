// Tests of agents, and their runs.
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import {
  AgentTest,
  AgentTestCreate,
  AgentTestPage,
  AgentTestPatch,
  AgentTestQuery,
  TestBatch,
  TestBatchPage,
  TestRun,
  TestRunPage,
  TestRunQuery,
  TestsRun
} from "../AgentTest.ts"
import { BadRequest, Conflict, Invalid, NotFound, PaymentRequired, TooManyRequests } from "../Errors.ts"
import { Id } from "../Field.ts"
import { PageQuery } from "../Page.ts"
import { Authorization } from "./Authorization.ts"
import { Validation } from "./Validation.ts"

const one = { test_id: Id }
const agent = { agent_id: Id }

/** Endpoints of tests and their runs. */
export class AgentTestsApi extends HttpApiGroup.make("agentTests")
  .add(
    HttpApiEndpoint.get("listTests", "/tests", { query: AgentTestQuery, success: AgentTestPage, error: BadRequest }),
    HttpApiEndpoint.post("createTest", "/tests", {
      payload: AgentTestCreate,
      success: AgentTest.pipe(HttpApiSchema.status(201)),
      error: Invalid
    }),
    HttpApiEndpoint.get("getTest", "/tests/:test_id", { params: one, success: AgentTest, error: NotFound }),
    HttpApiEndpoint.patch("updateTest", "/tests/:test_id", {
      params: one,
      payload: AgentTestPatch,
      success: AgentTest,
      error: [NotFound, Invalid]
    }),
    HttpApiEndpoint.delete("deleteTest", "/tests/:test_id", {
      params: one,
      success: HttpApiSchema.NoContent,
      error: NotFound
    }),
    HttpApiEndpoint.put("attachTest", "/agents/:agent_id/tests/:test_id", {
      params: { ...agent, ...one },
      success: HttpApiSchema.NoContent,
      error: [NotFound, Conflict]
    }),
    HttpApiEndpoint.delete("detachTest", "/agents/:agent_id/tests/:test_id", {
      params: { ...agent, ...one },
      success: HttpApiSchema.NoContent,
      error: NotFound
    }),
    HttpApiEndpoint.post("runTests", "/agents/:agent_id/tests/run", {
      params: agent,
      payload: [TestsRun, Schema.Null] as const,
      success: TestBatch.pipe(HttpApiSchema.status(201)),
      error: [NotFound, BadRequest, Invalid, PaymentRequired, TooManyRequests]
    }),
    HttpApiEndpoint.get("listTestBatches", "/agents/:agent_id/test-batches", {
      params: agent,
      query: PageQuery,
      success: TestBatchPage,
      error: [NotFound, BadRequest]
    }),
    HttpApiEndpoint.get("getTestBatch", "/agents/:agent_id/test-batches/:batch_id", {
      params: { ...agent, batch_id: Id },
      success: TestBatch,
      error: NotFound
    }),
    HttpApiEndpoint.get("listTestRuns", "/test-runs", { query: TestRunQuery, success: TestRunPage, error: BadRequest }),
    HttpApiEndpoint.get("getTestRun", "/test-runs/:run_id", {
      params: { run_id: Id },
      success: TestRun,
      error: NotFound
    })
  )
  .middleware(Validation)
  .middleware(Authorization)
  .prefix("/v1/agent")
  .annotateMerge(OpenApi.annotations({ title: "Agent tests" })) {}
