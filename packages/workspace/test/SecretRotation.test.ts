// A change of the master key: whatever a former key sealed, anywhere in the database, is sealed by the new one afterwards, and
// nothing else has changed.
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { createCipheriv, hkdfSync, randomBytes } from "node:crypto"
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
import { makeSecretBox, type SecretBox } from "../src/storage/SecretBox.ts"
import { type SecretOwner, secretOwner } from "../src/storage/SecretOwner.ts"
import { Secrets } from "../src/storage/Secrets.ts"
import { plainHost, plainMcpServer } from "../src/testing/PlainMcpServer.ts"
import * as TestDatabase from "../src/testing/TestDatabase.ts"
import { Tools } from "../src/tools/Tools.ts"
import * as Workspace from "../src/Workspace.ts"

const [one, two] = ["the-first-master-key", "the-second-master-key"] as const
const [before, after] = [Redacted.make<string>(one), Redacted.make<string>(two)]

const platform = Layer.succeed(Platform, {
  voices: new Set<string>(),
  asrModels: ["vendor:transcribe-1"],
  llmModels: ["demo"],
  allowedPrivate: [plainHost],
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
  const { mcp_server_id } = yield* servers.create(ws, { name: "M", url: (yield* plainMcpServer).url, headers })
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
    trunk: sealTrunk(trunk, undefined, (yield* Secrets).of(secretOwner.stockedNumber("+14155550199")).seal),
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

/** Every owner there is in the database. */
const ownersIn = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const idsOf = (table: string, of: (id: string) => SecretOwner, key = "id") =>
    Effect.map(sql<{ id: string }>`SELECT ${sql(key)} AS id FROM ${sql(table)}`, (rows) => rows.map(({ id }) => of(id)))
  const all = yield* Effect.all([
    idsOf("agents", secretOwner.agent),
    idsOf("tools", secretOwner.tool),
    idsOf("mcp_servers", secretOwner.mcpServer),
    idsOf("phone_numbers", secretOwner.number),
    idsOf("number_inventory", secretOwner.stockedNumber, "phone_number"),
    idsOf("webhook_deliveries", secretOwner.delivery),
    idsOf("settings", secretOwner.setting, "name")
  ])
  return all.flat()
})

/** What it opens to for one of the owners; undefined when it does for none. */
const openedFor = (box: SecretBox, sealed: string, owners: ReadonlyArray<SecretOwner>): string | undefined => {
  for (const owner of owners) {
    try {
      return Redacted.value(box.of(owner).open(sealed))
    } catch {
      // Another owner's.
    }
  }
  return undefined
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

const [oneBox, twoBox] = [one, two].map((key) => makeSecretBox(expand(key))) as [SecretBox, SecretBox]

/** Until every value opens with the box for its owner. */
const untilAll = Effect.fnUntraced(function* (box: SecretBox) {
  const owners = yield* ownersIn
  for (let tries = 0; tries < 400; tries++) {
    if ((yield* sealedValues).every(({ sealed }) => openedFor(box, sealed, owners) !== undefined)) return
    yield* Effect.sleep(25)
  }
  assert.fail("not all was sealed again")
})

/** Nothing shows as changed: not by itself, and not when the same is saved again. */
const unchanged = Effect.fnUntraced(function* (made: Effect.Success<typeof estate>) {
  const agents = yield* Agents
  const { config_hash, llm, webhooks } = made.config
  assert.deepStrictEqual(yield* agents.config(made.ws, made.agent_id), made.config)
  assert.deepStrictEqual(yield* agents.updateConfig(made.ws, made.agent_id, { webhooks }), made.config)
  const same = { llm: { custom: llm.custom === null ? null : { ...llm.custom, api_key: "canary" } } }
  assert.strictEqual((yield* agents.updateConfig(made.ws, made.agent_id, same)).config_hash, config_hash)
  yield* (yield* Tools).update(made.ws, made.tool_id, { headers: made.tool.headers })
  assert.strictEqual((yield* agents.config(made.ws, made.agent_id)).config_hash, config_hash)
  assert.strictEqual((yield* (yield* Versions).publish(made.ws, made.agent_id, {})).version_number, 1)
})

const live = Layer.mergeAll(platform, TestDatabase.layer)

layer(live, { excludeTestServices: true, timeout: "60 seconds" })("SecretRotation", (it) => {
  it.effect("seals all again that a former key sealed, and the former key can go", () =>
    Effect.gen(function* () {
      const made = yield* Effect.provide(estate, started(before))
      const owners = yield* ownersIn
      const first = yield* sealedValues
      assert.deepStrictEqual(new Set(first.map(({ table }) => table)), places)
      for (const { sealed, table } of first) assert.isDefined(openedFor(oneBox, sealed, owners), table)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.provide(Effect.void, started(after)))))

      yield* Effect.provide(Effect.andThen(untilAll(twoBox), unchanged(made)), started(after, [before]))
      const second = yield* sealedValues
      assert.strictEqual(second.length, first.length)
      for (const { sealed, table } of second) assert.isUndefined(openedFor(oneBox, sealed, owners), table)
      // Without the former key: the proof has gone over, too.
      yield* Effect.provide(Effect.void, started(after))
      const plain = second.map(({ sealed }) => openedFor(twoBox, sealed, owners))
      assert.deepStrictEqual(new Set(plain), new Set(["Bearer canary", "canary", "parley"]))
    })
  )
})

layer(live, { excludeTestServices: true, timeout: "60 seconds" })("Values sealed without an owner", (it) => {
  it.effect("are given theirs by the next start, after which none opens any more", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const made = yield* Effect.provide(estate, started(before))
      const owners = yield* ownersIn
      yield* sql`DELETE FROM settings WHERE name = 'secrets_bound'`
      const columns = [
        ["tools", "definition"],
        ["mcp_servers", "definition"],
        ["agents", "draft"],
        ["agent_versions", "config"],
        ["agent_versions", "tools"],
        ["agent_versions", "mcp_servers"],
        ["test_batches", "config"],
        ["test_batches", "tools"],
        ["sessions", "config"],
        ["phone_numbers", "trunk"],
        ["number_inventory", "trunk"],
        ["webhook_deliveries", "secret"],
        ["settings", "value"]
      ] as const
      const values = yield* sealedValues
      for (const { sealed } of values) {
        const former = unowned(openedFor(oneBox, sealed, owners) ?? "")
        for (const [table, column] of columns) {
          const type = sql.literal(column === "secret" || column === "value" ? "text" : "jsonb")
          yield* sql`UPDATE ${sql(table)} SET ${sql(column)} = replace(${sql(column)}::text, ${sealed}, ${former})::${type}
            WHERE ${sql(column)}::text LIKE ${`%${sealed}%`}`
        }
      }
      assert.isTrue((yield* sealedValues).every(({ sealed }) => sealed.startsWith("v1.")))

      const during = Effect.gen(function* () {
        yield* untilAll(oneBox)
        yield* unchanged(made)
        for (let tries = 0; tries < 400; tries++) {
          if ((yield* sql`SELECT 1 FROM settings WHERE name = 'secrets_bound'`).length > 0) return
          yield* Effect.sleep(25)
        }
        assert.fail("never said to be over")
      })
      yield* Effect.provide(during, started(before))
      assert.strictEqual((yield* sealedValues).length, values.length)

      const opened = Effect.map(Secrets, (secrets) =>
        openedFor(secrets, unowned("canary"), [secretOwner.tool(made.tool_id)])
      )
      assert.isUndefined(yield* Effect.provide(opened, started(before)))
    })
  )
})

/** As an earlier release sealed with the first key. */
const unowned = (plain: string): string => {
  const nonce = randomBytes(12)
  const key = Buffer.from(hkdfSync("sha256", expand(one), "", "parley/secrets", 32))
  const cipher = createCipheriv("aes-256-gcm", key, nonce)
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return `v1.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url")}`
}
