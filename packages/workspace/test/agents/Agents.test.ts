import { assert, layer } from "@effect/vitest"
import type { ConfigPatch } from "@parley/contract/AgentConfig/AgentConfig"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Agents } from "../../src/agents/Agents.ts"
import { Platform } from "../../src/Platform.ts"
import { secretOwner } from "../../src/storage/SecretOwner.ts"
import { Secrets } from "../../src/storage/Secrets.ts"
import * as TestDatabase from "../../src/testing/TestDatabase.ts"
import { Versions } from "../../src/agents/Versions.ts"
import * as Workspace from "../../src/Workspace.ts"
import { Workspaces } from "../../src/identity/Workspaces.ts"

const platform = Layer.succeed(Platform, {
  voices: new Set(["slt", "awb"]),
  asrModels: ["vendor:transcribe-1"],
  llmModels: ["default", "other"],
  allowedPrivate: [],
  cloning: false,
  trialBalance: 5_000_000_000n
})

const live = Workspace.layer(undefined).pipe(Layer.provideMerge(Layer.mergeAll(platform, TestDatabase.layer)))

layer(live, { excludeTestServices: true })("Agents", (it) => {
  const home = Effect.flatMap(Workspaces, (workspaces) => workspaces.ensure("default"))

  it.effect("keeps a sent section whole and leaves the others", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const ws = yield* home
      const agent = yield* agents.create(ws, { name: "Ada", config: {} })
      const first = yield* agents.config(ws, agent.agent_id)
      const changed = yield* agents.updateConfig(ws, agent.agent_id, {
        voice: { ...first.voice, voice_id: "slt", speed: 1.5 }
      })
      assert.strictEqual(changed.voice.speed, 1.5)
      assert.deepStrictEqual(changed.prompt, first.prompt)
      assert.notStrictEqual(changed.config_hash, first.config_hash)
    })
  )

  it.effect("stores secrets sealed and never shows them", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const secrets = yield* Secrets
      const sql = yield* SqlClient.SqlClient
      const ws = yield* home
      const agent = yield* agents.create(ws, {
        name: "Sealed",
        config: {
          webhooks: {
            conversation_init: null,
            post_call: [{ url: "https://example.com/hook", secret: "s3cret-value" }]
          },
          llm: { custom: { base_url: "https://llm.example.com/v1/chat/completions", model: "m", api_key: "sk-secret" } }
        }
      })
      const shown = yield* agents.config(ws, agent.agent_id)
      assert.deepStrictEqual(shown.webhooks.post_call, [{ url: "https://example.com/hook", has_secret: true }])
      assert.deepStrictEqual(shown.llm, {
        model: null,
        custom: { base_url: "https://llm.example.com/v1", model: "m", api_key: null }
      })
      const rows = yield* sql<{ draft: string }>`SELECT draft::text FROM agents WHERE id = ${agent.agent_id}`
      assert.notInclude(rows[0]?.draft, "s3cret-value")
      assert.notInclude(rows[0]?.draft, "sk-secret")
      // Sent back as returned, nothing changes.
      const { agent_id, config_hash, updated_at, ...sections } = shown
      const again = yield* agents.updateConfig(ws, agent.agent_id, {
        ...sections,
        agent_id,
        config_hash,
        updated_at
      } as ConfigPatch)
      assert.deepStrictEqual(again, shown)
      const own = secrets.of(secretOwner.agent(agent_id ?? ""))
      assert.strictEqual(own.seal("a", own.seal("b", null)) === "a", false)
    })
  )

  it.effect("publishes once per change", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const versions = yield* Versions
      const ws = yield* home
      const agent = yield* agents.create(ws, { name: "Published" })
      const never = yield* versions.live(ws, agent.agent_id).pipe(Effect.flip)
      assert.strictEqual(never.status, 409)
      const one = yield* versions.publish(ws, agent.agent_id, {})
      const same = yield* versions.publish(ws, agent.agent_id, { version_title: "again" })
      assert.deepStrictEqual(same, one)
      const config = yield* agents.config(ws, agent.agent_id)
      yield* agents.updateConfig(ws, agent.agent_id, { prompt: { ...config.prompt, system_prompt: "Be kind." } })
      const two = yield* versions.publish(ws, agent.agent_id, { version_title: "kind" })
      assert.strictEqual(two.version_number, 2)
      const list = yield* versions.list(ws, agent.agent_id, { page_size: 1, include_total: "true" })
      assert.deepStrictEqual([list.items.length, list.has_more, list.total], [1, true, 2])
      const rest = yield* versions.list(ws, agent.agent_id, { cursor: list.next_cursor ?? "" })
      assert.deepStrictEqual(
        rest.items.map((item) => item.version_number),
        [1]
      )
      const old = yield* versions.get(ws, agent.agent_id, "1")
      assert.strictEqual(old.config.prompt.system_prompt, "")
      assert.strictEqual((yield* versions.get(ws, agent.agent_id, "1.5").pipe(Effect.flip)).status, 404)
      assert.strictEqual((yield* agents.get(ws, agent.agent_id)).publication_state, "live")
    })
  )

  it.effect("counts tokens where length alone cannot tell", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const ws = yield* home
      const agent = yield* agents.create(ws, { name: "Long" })
      const { prompt } = yield* agents.config(ws, agent.agent_id)
      const fits = "all the words of a prompt ".repeat(4000)
      const kept = yield* agents.updateConfig(ws, agent.agent_id, { prompt: { ...prompt, system_prompt: fits } })
      assert.strictEqual(kept.prompt.system_prompt.length, fits.length)
      const tooLong = "all the words of a prompt ".repeat(7000)
      const refused = yield* agents
        .updateConfig(ws, agent.agent_id, { prompt: { ...prompt, system_prompt: tooLong } })
        .pipe(Effect.flip)
      assert.strictEqual(refused.status, 422)
      assert.include(refused.message, "prompt.system_prompt")
    })
  )

  it.effect("hides another workspace's agents", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const versions = yield* Versions
      const workspaces = yield* Workspaces
      const ws = yield* home
      const other = yield* workspaces.ensure("other")
      const { agent_id } = yield* agents.create(ws, { name: "Mine" })
      const tries = [
        agents.get(other, agent_id),
        agents.update(other, agent_id, { name: "Theirs" }),
        agents.remove(other, agent_id),
        agents.config(other, agent_id),
        agents.updateConfig(other, agent_id, {}),
        agents.duplicate(other, agent_id, undefined),
        versions.publish(other, agent_id, {}),
        versions.list(other, agent_id, {}),
        versions.get(other, agent_id, "1"),
        versions.live(other, agent_id)
      ]
      for (const attempt of tries)
        assert.strictEqual((yield* Effect.flip<unknown, { status: number }, never>(attempt)).status, 404)
      assert.deepStrictEqual((yield* agents.list(other, {})).items, [])
    })
  )

  it.effect("counts every one of many changes at once of different sections", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const ws = yield* (yield* Workspaces).ensure("at once")
      const { agent_id } = yield* agents.create(ws, { name: "Ada" })
      const now = yield* agents.config(ws, agent_id)
      const patches: ReadonlyArray<ConfigPatch> = [
        { prompt: { ...now.prompt, system_prompt: "One." } },
        { voice: { ...now.voice, speed: 1.5 } },
        { conversation: { ...now.conversation, eagerness: "eager" } },
        { guardrails: { ...now.guardrails, focus: true } },
        { analysis: { ...now.analysis, criteria: [{ name: "solved", description: "It was." }] } },
        { tools: { ...now.tools, enabled: true } },
        { knowledge_base: { ...now.knowledge_base, enabled: true } }
      ]
      yield* Effect.all(
        patches.map((patch) => agents.updateConfig(ws, agent_id, patch)),
        { concurrency: "unbounded" }
      )
      const then = yield* agents.config(ws, agent_id)
      for (const patch of patches) assert.deepInclude(then, patch as Partial<typeof then>)
    })
  )

  it.effect("lists with search, state, archive and both ways of paging", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const versions = yield* Versions
      const ws = yield* Effect.flatMap(Workspaces, (workspaces) => workspaces.ensure("lists"))
      const made = yield* Effect.forEach(["One 100%", "Two", "Three", "Four"], (name) => agents.create(ws, { name }))
      yield* versions.publish(ws, made[1]?.agent_id ?? "", {})
      yield* agents.update(ws, made[2]?.agent_id ?? "", { status: "archived" })
      const names = (query: Parameters<typeof agents.list>[1]) =>
        agents.list(ws, query).pipe(Effect.map((page) => page.items.map((item) => item.name)))
      assert.deepStrictEqual(yield* names({}), ["Four", "Two", "One 100%"])
      assert.deepStrictEqual(yield* names({ include_archived: "true" }), ["Four", "Three", "Two", "One 100%"])
      assert.deepStrictEqual(yield* names({ publication_state: "live" }), ["Two"])
      assert.deepStrictEqual(yield* names({ publication_state: "draft" }), ["Four", "One 100%"])
      assert.deepStrictEqual(yield* names({ search: "100%" }), ["One 100%"])
      assert.deepStrictEqual(yield* names({ search: "o" }), ["Four", "Two", "One 100%"])
      const page = yield* agents.list(ws, { page: 2, page_size: 2 })
      assert.deepStrictEqual([page.items.map(({ name }) => name), page.total, page.has_more], [["One 100%"], 3, false])
      const first = yield* agents.list(ws, { page_size: 2 })
      assert.strictEqual(first.total, null)
      assert.deepStrictEqual(yield* names({ page_size: 2, cursor: first.next_cursor ?? "" }), ["One 100%"])
      for (const query of [{ cursor: "nonsense" }, { cursor: "e30", page: 1 }, { page: 50_000, page_size: 100 }]) {
        assert.strictEqual((yield* agents.list(ws, query).pipe(Effect.flip)).status, 400)
      }
      yield* agents.remove(ws, made[0]?.agent_id ?? "")
      assert.deepStrictEqual(yield* names({}), ["Four", "Two"])
    })
  )
})
