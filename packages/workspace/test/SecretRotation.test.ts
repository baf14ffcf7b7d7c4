// A change of the master key: whatever a former key sealed, anywhere in the database, is sealed by the new one afterwards, and
// nothing else has changed.
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AgentTests } from "../src/agentTests/AgentTests.ts"
import { TestRuns } from "../src/agentTests/TestRuns.ts"
import { Agents } from "../src/agents/Agents.ts"
import { Versions } from "../src/agents/Versions.ts"
import { Workspaces } from "../src/identity/Workspaces.ts"
import { McpServers } from "../src/mcp/McpServers.ts"
import { LocalInventory } from "../src/phone/LocalInventory.ts"
import { PhoneNumbers } from "../src/phone/PhoneNumbers.ts"
import { sealTrunk } from "../src/phone/Trunk.ts"
import { Platform } from "../src/Platform.ts"
import * as SecretRotation from "../src/SecretRotation.ts"
import { SessionLife } from "../src/sessions/SessionLife.ts"
import { type NewSession, Sessions } from "../src/sessions/Sessions.ts"
import { expand } from "../src/storage/masterKey.ts"
import { makeSecretBox } from "../src/storage/SecretBox.ts"
import { Secrets } from "../src/storage/Secrets.ts"
import * as TestDatabase from "../src/testing/TestDatabase.ts"
import { Tools } from "../src/tools/Tools.ts"
import * as Workspace from "../src/Workspace.ts"

const [one, two] = ["the-first-master-key", "the-second-master-key"] as const
const [before, after] = [Redacted.make<string>(one), Redacted.make<string>(two)]

const platform = Layer.succeed(Platform, {
  voices: new Set<string>(),
  asrModels: ["vendor:transcribe-1"],
  llmModels: ["demo"],
  allowedPrivate: [],
  cloning: false,
  trialBalance: 5_000_000_000n
})

/** The services of a start with these keys. */
const started = (key: Redacted.Redacted<string>, former: ReadonlyArray<Redacted.Redacted<string>> = []) =>
  Layer.mergeAll(LocalInventory.layer, SecretRotation.layer).pipe(
    Layer.provideMerge(Workspace.layer(key, former)),
    Layer.fresh
  )

/** Every place that has a sealed value, with one in it. */
const estate = Effect.gen(function* () {
  const ws = yield* (yield* Workspaces).ensure("estate")
  const headers = [{ kind: "authorization_bearer", value: "Bearer canary" }] as const
  const tools = yield* Tools
  const { tool_id } = yield* tools.create(ws, { name: "Book", url: "https://api.example.com/", headers })
  const servers = yield* McpServers
  const { mcp_server_id } = yield* servers.create(ws, { name: "M", url: "https://mcp.example.com/", headers })
  const agents = yield* Agents
  const { agent_id } = yield* agents.create(ws, {
    name: "Ada",
    config: {
      tools: {
        enabled: true,
        tool_ids: [tool_id],
        mcp_server_ids: [mcp_server_id],
        system_tools: { hang_up_call: false }
      },
      webhooks: {
        conversation_init: { url: "https://hooks.example.com/init", secret: "canary", timeout_seconds: 5 },
        post_call: [{ url: "https://hooks.example.com/", secret: "canary" }]
      },
      llm: { custom: { base_url: "https://llm.example.com/v1", model: "m", api_key: "canary" } }
    }
  })
  const versions = yield* Versions
  yield* versions.publish(ws, agent_id, {})
  const session = (runnable: NewSession["runnable"], preview: boolean): NewSession => ({
    workspaceId: ws,
    runnable,
    preview,
    source: "api_key",
    name: "",
    timezone: "UTC",
    endUserId: "",
    metadata: {},
    input: { overrides: {}, dynamicVariables: {}, worldContext: true, toolEvents: true, recordAudio: false },
    maxDurationSeconds: 60
  })
  const sessions = yield* Sessions
  yield* sessions.create(session(yield* versions.draft(ws, agent_id), true))
  const { id } = yield* sessions.create(session(yield* versions.live(ws, agent_id), false))
  const life = yield* SessionLife
  yield* life.claim(id)
  yield* life.settle(id, "user_hangup")
  const tests = yield* AgentTests
  const { test_id } = yield* tests.create(ws, {
    name: "greets",
    turns: ["hello"],
    expectations: [{ type: "reply_contains", text: "hello" }]
  })
  yield* tests.attach(ws, agent_id, test_id)
  yield* (yield* TestRuns).begin(ws, agent_id, {})
  const trunk = {
    inbound_auth_username: "in",
    inbound_auth_password: "canary",
    termination_uri: "sip.example.com",
    termination_auth_username: "out",
    termination_auth_password: "canary"
  }
  yield* (yield* PhoneNumbers).create(ws, { provider: "sip", phone_number: "+14155550100", ...trunk })
  yield* (yield* LocalInventory).put({
    phoneNumber: "+14155550199",
    friendlyName: "n",
    locality: "",
    region: "",
    countryCode: "US",
    trunk: sealTrunk(trunk, undefined, (yield* Secrets).seal),
    originalCaller: false
  })
  const config = yield* agents.config(ws, agent_id)
  return { ws, agent_id, tool_id, config, tool: yield* tools.get(ws, tool_id) }
})

/** Every sealed value of every table, by table. */
const sealedValues = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ name: string }>`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`
  const found = yield* Effect.forEach(tables, ({ name }) =>
    Effect.map(sql<{ row: string }>`SELECT t::text AS row FROM ${sql(name)} t`, (rows) =>
      rows.flatMap(({ row }) =>
        (row.match(/v\d\.[A-Za-z0-9_-]{38,}/g) ?? []).map((sealed) => ({ table: name, sealed }))
      )
    )
  )
  return found.flat()
})

const opens = (key: string, sealed: string): boolean => {
  try {
    makeSecretBox(expand(key)).open(sealed)
    return true
  } catch {
    return false
  }
}

/** The tables that hold sealed values. */
const places = new Set([
  "agents",
  "agent_versions",
  "mcp_servers",
  "number_inventory",
  "phone_numbers",
  "sessions",
  "settings",
  "test_batches",
  "tools",
  "webhook_deliveries"
])

layer(Layer.mergeAll(platform, TestDatabase.layer), { excludeTestServices: true, timeout: "60 seconds" })(
  "SecretRotation",
  (it) => {
    it.effect("seals all again that a former key sealed, and the former key can go", () =>
      Effect.gen(function* () {
        const made = yield* Effect.provide(estate, started(before))
        const first = yield* sealedValues
        assert.deepStrictEqual(new Set(first.map(({ table }) => table)), places)
        for (const { sealed } of first) assert.isTrue(opens(one, sealed))

        const refused = yield* Effect.exit(Effect.provide(Effect.void, started(after)))
        assert.isTrue(Exit.isFailure(refused))

        const during = Effect.gen(function* () {
          const agents = yield* Agents
          const tools = yield* Tools
          for (let tries = 0; tries < 400; tries++) {
            if ((yield* sealedValues).every(({ sealed }) => opens(two, sealed))) break
            yield* Effect.sleep(25)
          }
          // Nothing shows as changed: not by itself, and not when the same is saved again.
          assert.deepStrictEqual(yield* agents.config(made.ws, made.agent_id), made.config)
          const { llm, webhooks } = made.config
          assert.deepStrictEqual(yield* agents.updateConfig(made.ws, made.agent_id, { webhooks }), made.config)
          const same = { llm: { custom: llm.custom === null ? null : { ...llm.custom, api_key: "canary" } } }
          assert.strictEqual(
            (yield* agents.updateConfig(made.ws, made.agent_id, same)).config_hash,
            made.config.config_hash
          )
          yield* tools.update(made.ws, made.tool_id, { headers: made.tool.headers })
          assert.strictEqual((yield* agents.config(made.ws, made.agent_id)).config_hash, made.config.config_hash)
          const { version_number } = yield* (yield* Versions).publish(made.ws, made.agent_id, {})
          assert.strictEqual(version_number, 1)
        })
        yield* Effect.provide(during, started(after, [before]))
        const second = yield* sealedValues
        assert.strictEqual(second.length, first.length)
        for (const { sealed, table } of second) {
          assert.isTrue(opens(two, sealed), table)
          assert.isFalse(opens(one, sealed), table)
        }
        // Without the former key: the proof has gone over, too.
        yield* Effect.provide(
          Effect.flatMap(Secrets, (secrets) =>
            Effect.sync(() => {
              const plain = second.map(({ sealed }) => Redacted.value(secrets.open(sealed)))
              assert.deepStrictEqual(new Set(plain), new Set(["Bearer canary", "canary", "parley"]))
            })
          ),
          started(after)
        )
      })
    )
  }
)
