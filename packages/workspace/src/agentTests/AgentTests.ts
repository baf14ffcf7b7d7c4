// The workspace's tests of agents, and which agents they are attached to. A foreign or removed test is not found; a
// removed one is detached, and its runs stay.
import {
  type AgentTest,
  type AgentTestCreate,
  type AgentTestPatch,
  TestDefinition,
  testsPerAgent
} from "@parley/contract/AgentTest"
import { type BadRequest, Conflict, type NotFound, notFound } from "@parley/contract/Errors"
import type { Page, PageRequest } from "@parley/contract/Page"
import { readVariables } from "@parley/contract/SessionRequest"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../storage/Id.ts"
import { likePattern, readPage } from "../storage/Paging.ts"
import { Database } from "../storage/Database.ts"

export interface TestRow {
  readonly seq: bigint
  readonly id: string
  readonly workspace_id: string
  readonly definition: unknown
  readonly created_at: Date
  readonly updated_at: Date
  readonly used_by?: number
}

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

      const usedBy = sql`(SELECT count(*)::int FROM attached_tests x JOIN agents a ON a.id = x.agent_id
        WHERE x.test_id = t.id AND a.deleted_at IS NULL) AS used_by`

      const find = Effect.fnUntraced(function* (workspace: string, id: string, forUpdate = false) {
        const lock = forUpdate ? sql`FOR UPDATE OF t` : sql``
        const rows = yield* sql<TestRow>`SELECT t.*, ${usedBy} FROM agent_tests t
          WHERE t.id = ${id} AND t.workspace_id = ${workspace} ${lock}`.pipe(Effect.orDie)
        const row = rows[0]
        return row === undefined ? yield* notFound("Test") : row
      })

      /** Locked, so that what is counted of it stays. */
      const findAgent = Effect.fnUntraced(function* (workspace: string, id: string) {
        const rows = yield* sql`SELECT 1 FROM agents
          WHERE id = ${id} AND workspace_id = ${workspace} AND deleted_at IS NULL FOR NO KEY UPDATE`.pipe(Effect.orDie)
        if (rows.length === 0) return yield* notFound("Agent")
      })

      return {
        list: Effect.fn("AgentTests.list")(function* (workspace, query) {
          const conditions = [sql`t.workspace_id = ${workspace}`]
          if (query.search) conditions.push(sql`t.definition->>'name' ILIKE ${likePattern(query.search)}`)
          if (query.agent_id !== undefined) {
            conditions.push(sql`EXISTS (SELECT 1 FROM attached_tests x
              WHERE x.test_id = t.id AND x.agent_id = ${query.agent_id})`)
          }
          return yield* readPage(sql, query, { from: "agent_tests", beside: usedBy, where: conditions, show })
        }),

        create: Effect.fn("AgentTests.create")(function* (workspace, input) {
          const definition = merged(undefined, input)
          const rows = yield* sql<TestRow>`INSERT INTO agent_tests (id, workspace_id, definition)
            VALUES (${newId("test")}, ${workspace}, ${JSON.stringify(definition)}::jsonb) RETURNING *`.pipe(
            Effect.orDie
          )
          const row = rows[0]
          return row === undefined ? yield* Effect.die("a test that was inserted is not there") : show(row)
        }),

        get: Effect.fn("AgentTests.get")(function* (workspace, id) {
          return show(yield* find(workspace, id))
        }),

        update: Effect.fn("AgentTests.update")(
          function* (workspace, id, patch) {
            const row = yield* find(workspace, id, true)
            const definition = merged(decodeTest(row.definition), patch)
            yield* sql`UPDATE agent_tests SET definition = ${JSON.stringify(definition)}::jsonb, updated_at = now()
              WHERE id = ${id}`
            return show(yield* find(workspace, id))
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
        ),

        remove: Effect.fn("AgentTests.remove")(function* (workspace, id) {
          yield* find(workspace, id)
          yield* sql`DELETE FROM agent_tests WHERE id = ${id}`.pipe(Effect.orDie)
        }),

        attach: Effect.fn("AgentTests.attach")(
          function* (workspace, agentId, id) {
            yield* findAgent(workspace, agentId)
            yield* find(workspace, id, true)
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
            yield* findAgent(workspace, agentId)
            yield* find(workspace, id)
            yield* sql`DELETE FROM attached_tests WHERE agent_id = ${agentId} AND test_id = ${id}`
          },
          (effect) => sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die))
        )
      }
    })
  )
}

export const decodeTest: (stored: unknown) => TestDefinition = Schema.decodeUnknownSync(TestDefinition)

/** The test as it is to be stored. */
const merged = (stored: TestDefinition | undefined, sent: AgentTestCreate | AgentTestPatch): TestDefinition => ({
  name: sent.name ?? stored?.name ?? "",
  description: sent.description ?? stored?.description ?? "",
  turns: sent.turns ?? stored?.turns ?? [],
  dynamic_variables:
    sent.dynamic_variables === undefined ? (stored?.dynamic_variables ?? {}) : readVariables(sent.dynamic_variables),
  expectations: sent.expectations ?? stored?.expectations ?? []
})

const show = (row: TestRow): AgentTest => ({
  test_id: row.id,
  workspace_id: row.workspace_id,
  ...decodeTest(row.definition),
  used_by: row.used_by ?? 0,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString()
})
