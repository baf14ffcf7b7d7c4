// The workspace's tests of agents, and which agents they are attached to. A foreign or removed test is not found; a
// removed one is detached, and its runs stay.
import {
  type AgentTest,
  type AgentTestCreate,
  type AgentTestPatch,
  type TestDefinition,
  testsPerAgent
} from "@parley/contract/AgentTest"
import { type BadRequest, Conflict, type NotFound } from "@parley/contract/Errors"
import type { Page, PageRequest } from "@parley/contract/Page"
import { readVariables } from "@parley/contract/SessionRequest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { shownAgentFinder } from "../agents/AgentRow.ts"
import { Database } from "../storage/Database.ts"
import { newId } from "../storage/Id.ts"
import { likePattern, readPage } from "../storage/Paging.ts"
import { onlyRow } from "../storage/rows.ts"
import { decodeTest, showTest, testFinder, testRows, testUsers } from "./TestRow.ts"

/** Tests of a workspace and the agents they are attached to. */
export class AgentTests extends Context.Service<
  AgentTests,
  {
    readonly list: (
      workspace: string,
      query: PageRequest & { readonly search?: string; readonly agent_id?: string }
    ) => Effect.Effect<Page<AgentTest>, BadRequest>
    readonly create: (workspace: string, input: AgentTestCreate) => Effect.Effect<AgentTest>
    readonly get: (workspace: string, id: string) => Effect.Effect<AgentTest, NotFound>
    readonly update: (workspace: string, id: string, patch: AgentTestPatch) => Effect.Effect<AgentTest, NotFound>
    readonly remove: (workspace: string, id: string) => Effect.Effect<void, NotFound>
    /** Attaching again and detaching what is not attached change nothing. */
    readonly attach: (workspace: string, agentId: string, id: string) => Effect.Effect<void, NotFound | Conflict>
    readonly detach: (workspace: string, agentId: string, id: string) => Effect.Effect<void, NotFound>
  }
>()("@parley/workspace/AgentTests") {
  static readonly layer: Layer.Layer<AgentTests, never, Database | SqlClient.SqlClient> = Layer.effect(
    AgentTests,
    Effect.gen(function* () {
      yield* Database
      const sql = yield* SqlClient.SqlClient

      const find = testFinder(sql)
      const findAgent = shownAgentFinder(sql)

      return {
        list: Effect.fn("AgentTests.list")(function* (workspace, query) {
          const conditions = [sql`t.workspace_id = ${workspace}`]
          if (query.search) conditions.push(sql`t.definition->>'name' ILIKE ${likePattern(query.search)}`)
          if (query.agent_id !== undefined) {
            conditions.push(sql`EXISTS (SELECT 1 FROM attached_tests x
              WHERE x.test_id = t.id AND x.agent_id = ${query.agent_id})`)
          }
          return yield* readPage(sql, query, {
            from: "agent_tests",
            read: testRows,
            beside: testUsers(sql),
            where: conditions,
            show: showTest
          })
        }),

        create: Effect.fn("AgentTests.create")(function* (workspace, input) {
          const definition = merged(undefined, input)
          const rows = testRows(sql`INSERT INTO agent_tests (id, workspace_id, definition)
            VALUES (${newId("test")}, ${workspace}, ${JSON.stringify(definition)}::jsonb) RETURNING *`)
          return showTest(yield* onlyRow(rows).pipe(Effect.orDie))
        }),

        get: Effect.fn("AgentTests.get")(function* (workspace, id) {
          return showTest(yield* find(workspace, id))
        }),

        update: Effect.fn("AgentTests.update")(
          function* (workspace, id, patch) {
            const row = yield* find(workspace, id, "update")
            const definition = merged(decodeTest(row.definition), patch)
            yield* sql`UPDATE agent_tests SET definition = ${JSON.stringify(definition)}::jsonb, updated_at = now()
              WHERE id = ${id}`
            return showTest(yield* find(workspace, id))
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
        ),

        remove: Effect.fn("AgentTests.remove")(function* (workspace, id) {
          yield* find(workspace, id)
          yield* sql`DELETE FROM agent_tests WHERE id = ${id}`.pipe(Effect.orDie)
        }),

        attach: Effect.fn("AgentTests.attach")(
          function* (workspace, agentId, id) {
            // Locked, so that what is counted of it stays.
            yield* findAgent(workspace, agentId, "members")
            yield* find(workspace, id, "update")
            const others = yield* sql`SELECT 1 FROM attached_tests WHERE agent_id = ${agentId} AND test_id <> ${id}`
            if (others.length >= testsPerAgent) {
              return yield* new Conflict({ message: `An agent has at most ${testsPerAgent} tests` })
            }
            yield* sql`INSERT INTO attached_tests (agent_id, test_id) VALUES (${agentId}, ${id}) ON CONFLICT DO NOTHING`
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
        ),

        detach: Effect.fn("AgentTests.detach")(
          function* (workspace, agentId, id) {
            yield* findAgent(workspace, agentId, "members")
            yield* find(workspace, id)
            yield* sql`DELETE FROM attached_tests WHERE agent_id = ${agentId} AND test_id = ${id}`
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
        )
      }
    })
  )
}

/** The test as it is to be stored. */
const merged = (stored: TestDefinition | undefined, sent: AgentTestCreate | AgentTestPatch): TestDefinition => ({
  name: sent.name ?? stored?.name ?? "",
  description: sent.description ?? stored?.description ?? "",
  turns: sent.turns ?? stored?.turns ?? [],
  dynamic_variables:
    sent.dynamic_variables === undefined ? (stored?.dynamic_variables ?? {}) : readVariables(sent.dynamic_variables),
  expectations: sent.expectations ?? stored?.expectations ?? []
})
