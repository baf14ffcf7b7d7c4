// Tests of agents over HTTP: translation only.
import { Caller } from "@parley/contract/MainApi/Authorization"
import { MainApi } from "@parley/contract/MainApi/MainApi"
import { AgentTests } from "@parley/workspace/agentTests/AgentTests"
import { TestRuns } from "@parley/workspace/agentTests/TestRuns"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

export const layer = HttpApiBuilder.group(
  MainApi,
  "agentTests",
  Effect.fnUntraced(function* (handlers) {
    const tests = yield* AgentTests
    const runs = yield* TestRuns
    const workspace = Effect.map(Caller, ({ workspaceId }) => workspaceId)

    return handlers.handleAll({
      listTests: ({ query }) =>
        Effect.flatMap(workspace, (ws) => tests.list(ws, query)).pipe(
          Effect.map(({ items, ...page }) => ({ tests: items, ...page }))
        ),
      createTest: ({ payload }) => Effect.flatMap(workspace, (ws) => tests.create(ws, payload)),
      getTest: ({ params }) => Effect.flatMap(workspace, (ws) => tests.get(ws, params.test_id)),
      updateTest: ({ params, payload }) => Effect.flatMap(workspace, (ws) => tests.update(ws, params.test_id, payload)),
      deleteTest: ({ params }) => Effect.flatMap(workspace, (ws) => tests.remove(ws, params.test_id)),
      attachTest: ({ params }) => Effect.flatMap(workspace, (ws) => tests.attach(ws, params.agent_id, params.test_id)),
      detachTest: ({ params }) => Effect.flatMap(workspace, (ws) => tests.detach(ws, params.agent_id, params.test_id)),
      runTests: ({ params, payload }) =>
        Effect.flatMap(workspace, (ws) => runs.begin(ws, params.agent_id, payload ?? {})),
      listTestBatches: ({ params, query }) =>
        Effect.flatMap(workspace, (ws) => runs.batches(ws, params.agent_id, query)).pipe(
          Effect.map(({ items, ...page }) => ({ test_batches: items, ...page }))
        ),
      getTestBatch: ({ params }) => Effect.flatMap(workspace, (ws) => runs.batch(ws, params.agent_id, params.batch_id)),
      listTestRuns: ({ query }) =>
        Effect.flatMap(workspace, (ws) => runs.list(ws, query)).pipe(
          Effect.map(({ items, ...page }) => ({ test_runs: items, ...page }))
        ),
      getTestRun: ({ params }) => Effect.flatMap(workspace, (ws) => runs.get(ws, params.run_id))
    })
  })
)
