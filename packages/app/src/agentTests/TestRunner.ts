// Runs tests of agents in writing: on the plan of a call, with the agent's model, every tool answered by its first mock
// response. Each run is bounded; one without a result says why. Each is charged by the second, and stops when the balance is
// spent.
import type { ExpectationResult } from "@parley/contract/AgentTest"
import { PaymentRequired } from "@parley/contract/Errors"
import type { SessionItem } from "@parley/contract/SessionItem"
import { resolveTimezone } from "@parley/contract/Timezone"
import type { CallPlan } from "@parley/engine/CallPlan"
import { type RunTool, ToolFailure } from "@parley/engine/ports/CallParts"
import { converse } from "@parley/engine/TextCall"
import { LanguageModels } from "@parley/llm/LanguageModels"
import type { ClaimedRun, RunOutcome } from "@parley/workspace/agentTests/TestRunQueue"
import { TestRuns } from "@parley/workspace/agentTests/TestRuns"
import { type Criterion, type Observed, questionsOf, checkExpectation } from "@parley/workspace/agentTests/expectations"
import { AnalysisModel } from "@parley/workspace/analysis/Analyst"
import { answerOf, questionOf } from "@parley/workspace/analysis/question"
import * as JobWorker from "@parley/workspace/jobs/JobWorker"
import { Billing } from "@parley/workspace/billing/Billing"
import { byTheSecond } from "@parley/workspace/billing/byTheSecond"
import { KnowledgeSearch } from "@parley/workspace/knowledge/KnowledgeSearch"
import type { ClaimedSession } from "@parley/workspace/sessions/PreparedSession"
import { answered } from "@parley/workspace/tools/WebhookCall"
import { Clock, Data, Deferred, Effect, Layer, Result, Stream } from "effect"
import { CallPlans } from "../plan/CallPlans.ts"

const runMs = 120_000
const lookMs = 2_000
/** At the same time in this process. */
const atOnce = 4

const unpaid = "the balance is spent"

/** Why a run has no result, in plain words. */
class Inconclusive extends Data.TaggedError("Inconclusive")<{ readonly message: string }> {}

export const layer: Layer.Layer<
  never,
  never,
  AnalysisModel | Billing | CallPlans | KnowledgeSearch | LanguageModels | TestRuns
> = Layer.effectDiscard(
  Effect.gen(function* () {
    const runs = yield* TestRuns
    const billing = yield* Billing
    const plans = yield* CallPlans
    const models = yield* LanguageModels
    const analyst = yield* AnalysisModel
    const search = yield* KnowledgeSearch

    const evaluate = Effect.fnUntraced(function* (
      run: ClaimedRun,
      observed: Observed,
      items: ReadonlyArray<SessionItem>
    ) {
      const criteria = run.test.expectations.filter((one): one is Criterion => one.type === "criterion")
      const wanted = questionsOf(criteria)
      const answers = criteria.length === 0 ? [] : yield* ask(run, wanted, items)
      return run.test.expectations.map((expectation): ExpectationResult => {
        if (expectation.type !== "criterion") return checkExpectation(expectation, observed)
        const answer = answers[criteria.indexOf(expectation)]
        const reason =
          answer?.rationale === undefined || answer.rationale === "" ? "no reason was given" : answer.rationale
        return { expectation, passed: answer?.result === "success", reason }
      })
    })

    const ask = Effect.fnUntraced(function* (
      { agentId, config }: ClaimedRun,
      wanted: ReturnType<typeof questionsOf>,
      items: ReadonlyArray<SessionItem>
    ) {
      const model = analyst.chat(config, agentId)
      if (model === undefined) return yield* new Inconclusive({ message: "no language model can judge a criterion" })
      const said = items.flatMap((item) => (item.type === "message" ? [item] : []))
      const text = yield* model.stream({ messages: questionOf(wanted, said), tools: [], extra: {} }).pipe(
        Stream.runFold(
          () => "",
          (whole, delta) => (delta._tag === "Text" ? whole + delta.text : whole)
        ),
        Effect.mapError(({ reason }) => new Inconclusive({ message: `the language model failed to judge: ${reason}` }))
      )
      const answer = answerOf(wanted, text)
      return Result.isSuccess(answer) ? answer.success.criteria : yield* new Inconclusive({ message: answer.failure })
    })

    const converseIn = Effect.fnUntraced(function* (run: ClaimedRun, remember: (item: SessionItem) => void) {
      const plan = yield* plans.planFor(sessionOf(run))
      const unmocked = yield* Deferred.make<never, Inconclusive>()
      const conversation = converse({
        plan,
        chat: models.chat(plan.llm),
        runTool: mocks(run, plan, (name) =>
          Deferred.fail(unmocked, new Inconclusive({ message: `the tool ${name} has no mock response` }))
        ),
        retrieve: ({ knowledge = [] }, text) => search.find(knowledge, text),
        turns: run.test.turns,
        remember: (fact) => void (fact._tag === "ItemRecorded" && remember(fact.item))
      }).pipe(Effect.mapError(({ reason }) => new Inconclusive({ message: `the language model failed: ${reason}` })))
      yield* Effect.raceFirst(conversation, Deferred.await(unmocked))
      return plan
    })

    const outcomeOf = Effect.fnUntraced(function* (run: ClaimedRun) {
      const startedAt = yield* Clock.currentTimeMillis
      const items: Array<SessionItem> = []
      const result = yield* converseIn(run, (item) => void items.push(item)).pipe(
        Effect.flatMap((plan) => evaluate(run, observedIn(items, run, plan), items)),
        (conversation) => byTheSecond(billing, run.workspaceId, "agent_test", conversation),
        Effect.mapError((error) => (error instanceof PaymentRequired ? new Inconclusive({ message: unpaid }) : error)),
        Effect.timeoutOrElse({
          duration: runMs,
          orElse: () => Effect.fail(new Inconclusive({ message: `the run took longer than ${runMs / 1000} seconds` }))
        }),
        Effect.result
      )
      const latencyMs = Math.round((yield* Clock.currentTimeMillis) - startedAt)
      const outcome: RunOutcome = Result.isFailure(result)
        ? { status: "error", error: result.failure.message, latencyMs, items, expectations: [] }
        : {
            status: result.success.every(({ passed }) => passed) ? "passed" : "failed",
            error: null,
            latencyMs,
            items,
            expectations: result.success
          }
      return outcome
    })

    yield* JobWorker.start({
      queue: runs.queue,
      failed: "A test of an agent could not be run",
      keyOf: ({ id }) => [id],
      run: (run) => Effect.flatMap(outcomeOf(run), (outcome) => runs.finish(run.id, outcome)),
      atOnce,
      lookMs,
      pauseMs: lookMs
    })
  })
)

/** As if somebody had joined a preview. Servers of tools that are elsewhere are not asked. */
const sessionOf = ({ agentId, agentName, config, configHash, id, knowledge, test, tools, workspaceId }: ClaimedRun) => {
  const session: ClaimedSession = {
    row: {
      seq: 0n,
      id,
      workspace_id: workspaceId,
      agent_id: agentId,
      agent_name: agentName,
      preview: true,
      version_number: null,
      config,
      config_hash: configHash,
      status: "active",
      source: "dashboard",
      name: test.name,
      end_reason: null,
      direction: "inbound",
      dial_status: null,
      answered_by: null,
      caller_number: "",
      dialed_number: "",
      sip_call_id: "",
      timezone: resolveTimezone({ request: undefined, agent: config.conversation.timezone, client: undefined }),
      end_user_id: "",
      metadata: {},
      request: {
        overrides: {},
        dynamicVariables: test.dynamic_variables,
        worldContext: true,
        toolEvents: false,
        recordAudio: false
      },
      max_duration_seconds: runMs / 1000,
      owner: null,
      created_at: new Date(),
      expires_at: new Date(),
      started_at: new Date(),
      ended_at: null,
      duration_seconds: null
    },
    config,
    tools,
    knowledge,
    mcpServers: []
  }
  return session
}

/** Tools of the plan stand in the order of the run's. */
const definitionOf = (run: ClaimedRun, plan: CallPlan, name: string) =>
  run.tools[plan.tools.findIndex(({ spec }) => spec.name === name)]?.definition

const mocks =
  (run: ClaimedRun, plan: CallPlan, onUnmocked: (name: string) => Effect.Effect<unknown>): RunTool =>
  ({ tool }) => {
    const mock = definitionOf(run, plan, tool.spec.name)?.mock_responses[0]
    if (mock !== undefined) {
      return Effect.mapError(answered(mock.status_code, mock.body), ({ message }) => new ToolFailure({ message }))
    }
    if (tool.mode === "fire_and_forget") return Effect.succeed("")
    return Effect.andThen(
      onUnmocked(definitionOf(run, plan, tool.spec.name)?.name ?? tool.spec.name),
      Effect.fail(new ToolFailure({ message: "no mock response" }))
    )
  }

const observedIn = (items: ReadonlyArray<SessionItem>, run: ClaimedRun, plan: CallPlan): Observed => ({
  replies: items.flatMap((item) => (item.type === "message" && item.role === "assistant" ? [item.content] : [])),
  calls: items.flatMap((item) => {
    if (item.type !== "tool_call") return []
    const display = definitionOf(run, plan, item.tool_name)?.name
    return [{ names: [item.tool_name, ...(display === undefined ? [] : [display])], input: item.input }]
  })
})
