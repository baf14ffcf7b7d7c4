import { assert, layer } from "@effect/vitest"
import type { ConfigPatch } from "@parley/contract/AgentConfig/AgentConfig"
import { ToolCreate, ToolPatch } from "@parley/contract/Tool"
import { Effect, Exit, Layer, Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { Agents } from "../../src/agents/Agents.ts"
import { Platform } from "../../src/Platform.ts"
import { secretOwner } from "../../src/storage/SecretOwner.ts"
import { Secrets } from "../../src/storage/Secrets.ts"
import { SessionLife } from "../../src/sessions/SessionLife.ts"
import { Sessions } from "../../src/sessions/Sessions.ts"
import * as TestDatabase from "../../src/testing/TestDatabase.ts"
import { Tools } from "../../src/tools/Tools.ts"
import { Versions, type Runnable } from "../../src/agents/Versions.ts"
import * as Workspace from "../../src/Workspace.ts"
import { Workspaces } from "../../src/identity/Workspaces.ts"

const platform = Layer.succeed(Platform, {
  voices: new Set(["slt"]),
  asrModels: ["vendor:transcribe-1"],
  llmModels: ["default"],
  allowedPrivate: ["127.0.0.0/8"],
  cloning: false,
  trialBalance: 5_000_000_000n
})

const live = Workspace.layer(undefined).pipe(Layer.provideMerge(Layer.mergeAll(platform, TestDatabase.layer)))

const booking = { name: "Book a table", url: "https://api.example.com/book", description: "Books." } as const

const long = (n: number) => "x".repeat(n)

const home = (name: string) => Effect.flatMap(Workspaces, (workspaces) => workspaces.ensure(name))

/** An agent whose draft names these tools. */
const agentWith = Effect.fnUntraced(function* (ws: string, ids: ReadonlyArray<string>) {
  const agents = yield* Agents
  const config = { tools: { enabled: true, tool_ids: ids, system_tools: { hang_up_call: false } } } as ConfigPatch
  return (yield* agents.create(ws, { name: "Ada", config })).agent_id
})

const statusOf = <A, R>(effect: Effect.Effect<A, { readonly status: number }, R>) =>
  Effect.map(Effect.flip(effect), ({ status }) => status)

layer(live, { excludeTestServices: true })("Tools", (it) => {
  it.effect("has every field's default and every bound", () =>
    Effect.gen(function* () {
      const tools = yield* Tools
      const ws = yield* home("bounds")
      const tool = yield* tools.create(ws, booking)
      const { created_at, tool_id, updated_at, workspace_id, ...rest } = tool
      assert.deepStrictEqual([workspace_id, created_at], [ws, updated_at])
      assert.match(tool_id, /^tool_/)
      assert.deepStrictEqual(rest, {
        tool_type: "webhook",
        ...booking,
        arguments: [],
        method: "POST",
        content_type: "application/json",
        body_template: "",
        headers: [],
        execution_mode: "blocking",
        timeout_seconds: 30,
        error_handling: "passthrough",
        mock_responses: [],
        expects_response: true,
        used_by: 0
      })
      const decode = Schema.decodeUnknownResult(ToolCreate, { onExcessProperty: "error" })
      const wrong: ReadonlyArray<Record<string, unknown>> = [
        { name: "" },
        { name: long(121) },
        { description: long(2001) },
        { url: long(4001) },
        { body_template: long(100_001) },
        { arguments: [{ name: "" }] },
        { arguments: [{ name: long(65) }] },
        { arguments: [{ name: "a", description: long(501) }] },
        { method: "HEAD" },
        { execution_mode: "later" },
        { error_handling: "ignore" },
        { timeout_seconds: 0 },
        { timeout_seconds: 301 },
        { timeout_seconds: 1.5 },
        { headers: [{ name: "", value: "v" }] },
        { headers: [{ name: "a b", value: "v" }] },
        { headers: [{ name: "a", value: "v\r\nb: c" }] },
        { headers: [{ name: "a", value: long(4001) }] },
        { headers: [{ name: "a", kind: "cookie", value: "v" }] },
        { mock_responses: [{ name: "m", status_code: 99 }] },
        { mock_responses: [{ name: "m", status_code: 600 }] },
        { mock_responses: [{ name: "m", body: long(100_001) }] },
        { tool_type: "mcp" },
        { unknown: 1 },
        { url: null }
      ]
      for (const more of wrong) {
        assert.isTrue(Result.isFailure(decode({ ...booking, ...more })), JSON.stringify(more).slice(0, 80))
      }
      assert.isTrue(Result.isFailure(Schema.decodeUnknownResult(ToolPatch)({ description: null })))
      const most = {
        name: long(120),
        description: long(2000),
        url: `https://api.example.com/${long(3976)}`,
        body_template: long(100_000),
        arguments: [{ name: long(64), description: long(500) }],
        mock_responses: [{ name: "m", status_code: 599, body: long(100_000) }],
        timeout_seconds: 300,
        execution_mode: "background"
      }
      assert.isTrue(Result.isSuccess(decode(most)))
      assert.strictEqual((yield* tools.create(ws, Result.getOrThrow(decode(most)))).timeout_seconds, 300)
    })
  )

  it.effect("refuses whole tools that make no sense", () =>
    Effect.gen(function* () {
      const tools = yield* Tools
      const ws = yield* home("sense")
      const wrong: ReadonlyArray<readonly [string, Partial<ToolCreate>]> = [
        ["url", { url: "http://169.254.169.254/latest" }],
        ["url", { url: "http://10.0.0.1/x" }],
        ["url", { url: "https://user:pw@example.com/" }],
        ["url", { url: "ftp://example.com/" }],
        ["url", { url: "https://{{host}}.example.com/" }],
        ["url", { url: "" }],
        ["url", { url: "https://example.com/{{system.now}}" }],
        ["body_template", { body_template: '{"a":"{{ system.session_id }}"}' }],
        ["headers.0.value", { headers: [{ name: "a", value: "{{system.secret}}" }] }],
        ["headers.0.value", { headers: [{ name: "a", value: null }] }],
        ["headers.0.name", { headers: [{ value: "v" }] }],
        ["headers.0.name", { headers: [{ name: "Host", value: "v" }] }],
        [
          "headers.1.name",
          {
            headers: [
              { name: "A", value: "v" },
              { name: "a", value: "w" }
            ]
          }
        ],
        ["timeout_seconds", { timeout_seconds: 121 }],
        ["arguments.1.name", { arguments: [{ name: "a" }, { name: "a" }] }],
        ["arguments.0.name", { arguments: [{ name: "system.today" }] }],
        ["name", { tool_type: "client", url: "", name: "two words" }],
        ["name", { tool_type: "client", url: "", name: "_own" }],
        ["name", { tool_type: "client", url: "", name: "hang_up_call" }],
        ["url", { tool_type: "client", name: "fine" }]
      ]
      for (const [field, more] of wrong) {
        const error = yield* Effect.flip(tools.create(ws, { ...booking, ...more }))
        assert.strictEqual(error.status, 422)
        assert.isTrue(error.message.startsWith(`${field}: `), `${field} / ${error.message}`)
      }
      const client = yield* tools.create(ws, { tool_type: "client", name: "show_map", expects_response: false })
      assert.deepInclude(client, { tool_type: "client", url: "", expects_response: false })
      assert.strictEqual(yield* statusOf(tools.update(ws, client.tool_id, { tool_type: "webhook" })), 422)
      assert.strictEqual(yield* statusOf(tools.test(ws, client.tool_id, {})), 400)
    })
  )

  it.effect("keeps credentials sealed, shows none, rotates them and keeps those that are not resent", () =>
    Effect.gen(function* () {
      const tools = yield* Tools
      const secrets = yield* Secrets
      const sql = yield* SqlClient.SqlClient
      const ws = yield* home("sealed")
      const tool = yield* tools.create(ws, {
        ...booking,
        headers: [
          { name: "X-Key", value: "custom-canary" },
          { kind: "authorization_bearer", value: "Bearer canary" }
        ]
      })
      const shown = [
        { name: "X-Key", kind: "custom" as const, value: null, has_secret: true },
        { name: "Authorization", kind: "authorization_bearer" as const, value: null, has_secret: true }
      ]
      assert.deepStrictEqual(tool.headers, shown)
      const stored = sql<{ text: string; headers: ReadonlyArray<{ value: string }> }>`
        SELECT definition::text AS text, definition->'headers' AS headers FROM tools WHERE id = ${tool.tool_id}`
      const values = Effect.map(stored, (rows) => {
        assert.notInclude(rows[0]?.text, "canary")
        return (rows[0]?.headers ?? []).map(({ value }) =>
          Redacted.value(secrets.of(secretOwner.tool(tool.tool_id)).open(value))
        )
      })
      assert.deepStrictEqual(yield* values, ["custom-canary", "Bearer canary"])
      // What is returned can be sent back.
      assert.deepStrictEqual((yield* tools.update(ws, tool.tool_id, { headers: tool.headers })).headers, shown)
      assert.deepStrictEqual(yield* values, ["custom-canary", "Bearer canary"])
      yield* tools.update(ws, tool.tool_id, { headers: [{ kind: "authorization_bearer", value: "Bearer canary-2" }] })
      assert.deepStrictEqual(yield* values, ["Bearer canary-2"])
      yield* tools.update(ws, tool.tool_id, { description: "Else." })
      assert.deepStrictEqual(yield* values, ["Bearer canary-2"])
      const again = yield* statusOf(tools.update(ws, tool.tool_id, { headers: [{ name: "X-Key", value: null }] }))
      assert.strictEqual(again, 422)
    })
  )

  it.effect("drops credentials at an address on another origin, and says so", () =>
    Effect.gen(function* () {
      const tools = yield* Tools
      const secrets = yield* Secrets
      const sql = yield* SqlClient.SqlClient
      const ws = yield* home("origins")
      const headers = [
        { name: "X-Key", value: "custom-canary" },
        { kind: "authorization_bearer", value: "Bearer canary" }
      ] as const
      const url = "https://api.example.com/book"
      const { tool_id } = yield* tools.create(ws, { ...booking, url, headers })
      const change = (patch: ToolPatch) =>
        Effect.map(tools.update(ws, tool_id, patch), (tool) => tool.headers.map(({ has_secret }) => has_secret))
      const stored = Effect.map(
        sql<{ headers: ReadonlyArray<{ value: string }> }>`SELECT definition->'headers' AS headers FROM tools
          WHERE id = ${tool_id}`,
        ([row]) =>
          row?.headers.map(({ value }) =>
            value === "" ? "" : Redacted.value(secrets.of(secretOwner.tool(tool_id)).open(value))
          )
      )
      assert.deepStrictEqual(yield* change({ url: "https://API.example.com:443/other?a=b" }), [true, true])
      for (const away of ["https://evil.example.com/book", "https://api.example.com:444/", "http://api.example.com/"]) {
        yield* change({ url, headers })
        assert.deepStrictEqual(yield* change({ url: away }), [false, false], away)
        assert.deepStrictEqual(yield* stored, ["", ""])
        yield* change({ url, headers })
        const unsaid = headers.map((header) => ({ ...header, value: null }))
        assert.deepStrictEqual(yield* change({ url: away, headers: unsaid }), [false, false], away)
        assert.deepStrictEqual(yield* stored, ["", ""])
      }
      yield* change({ url, headers })
      const [first, second] = headers
      assert.deepStrictEqual(
        yield* change({ url: "https://evil.example.com/", headers: [{ ...first, value: null }, second] }),
        [false, true]
      )
      assert.deepStrictEqual(yield* stored, ["", "Bearer canary"])
      // What is returned can still be sent back, and nothing comes back with the address.
      const shown = yield* tools.get(ws, tool_id)
      assert.deepStrictEqual(yield* change({ headers: shown.headers }), [false, true])
      assert.deepStrictEqual(yield* change({ url }), [false, false])
    })
  )

  it.effect("lists by name and agent, by cursor and page, and hides another workspace's", () =>
    Effect.gen(function* () {
      const tools = yield* Tools
      const ws = yield* home("lists")
      const other = yield* home("elsewhere")
      const made = yield* Effect.forEach(["One 100%", "Two", "Three"], (name) => tools.create(ws, { ...booking, name }))
      const [one, two] = [made[0]?.tool_id ?? "", made[1]?.tool_id ?? ""]
      const agent = yield* agentWith(ws, [one, two])
      const names = (query: Parameters<typeof tools.list>[1]) =>
        Effect.map(tools.list(ws, query), ({ items }) => items.map(({ name }) => name))
      assert.deepStrictEqual(yield* names({}), ["Three", "Two", "One 100%"])
      assert.deepStrictEqual(yield* names({ search: "100%" }), ["One 100%"])
      assert.deepStrictEqual(yield* names({ agent_id: agent }), ["Two", "One 100%"])
      assert.deepStrictEqual(yield* names({ agent_id: "agent_unknown" }), [])
      const first = yield* tools.list(ws, { page_size: 2, include_total: "true" })
      assert.deepStrictEqual([first.has_more, first.total], [true, 3])
      assert.deepStrictEqual(yield* names({ page_size: 2, cursor: first.next_cursor ?? "" }), ["One 100%"])
      assert.deepStrictEqual(yield* names({ page: 2, page_size: 2 }), ["One 100%"])
      assert.strictEqual(yield* statusOf(tools.list(ws, { cursor: "x" })), 400)
      assert.strictEqual((yield* tools.get(ws, one)).used_by, 1)
      assert.deepStrictEqual(yield* tools.agents(ws, one), { agents: [{ agent_id: agent, name: "Ada" }], total: 1 })

      assert.deepStrictEqual((yield* tools.list(other, {})).items, [])
      for (const attempt of [
        tools.get(other, one),
        tools.update(other, one, { name: "Theirs" }),
        tools.remove(other, one),
        tools.agents(other, one),
        tools.test(other, one, {})
      ]) {
        assert.strictEqual(yield* statusOf<unknown, never>(attempt), 404)
      }
      assert.strictEqual(yield* statusOf(agentWith(other, [one])), 422)
    })
  )

  it.effect("cannot be removed while a draft names it", () =>
    Effect.gen(function* () {
      const tools = yield* Tools
      const agents = yield* Agents
      const ws = yield* home("removal")
      const { tool_id } = yield* tools.create(ws, booking)
      const agent = yield* agentWith(ws, [tool_id])
      const refused = yield* Effect.flip(tools.remove(ws, tool_id))
      assert.deepStrictEqual([refused.status, refused.message], [409, "The tool is attached to 1 agent"])
      const { tools: section } = yield* agents.config(ws, agent)
      yield* agents.updateConfig(ws, agent, { tools: { ...section, tool_ids: [] } })
      yield* tools.remove(ws, tool_id)
      assert.strictEqual(yield* statusOf(tools.get(ws, tool_id)), 404)
      assert.strictEqual(
        yield* statusOf(agents.updateConfig(ws, agent, { tools: { ...section, tool_ids: [tool_id] } })),
        422
      )
    })
  )

  it.effect("is never named by a draft once removed, whoever comes first", () =>
    Effect.gen(function* () {
      const tools = yield* Tools
      const agents = yield* Agents
      const ws = yield* home("race")
      const attached: Array<boolean> = []
      for (let round = 0; round < 20; round++) {
        const { tool_id } = yield* tools.create(ws, booking)
        const agent = yield* agentWith(ws, [])
        const section = { enabled: true, tool_ids: [tool_id], system_tools: { hang_up_call: false } }
        const [attach, removal] = yield* Effect.all(
          [Effect.exit(agents.updateConfig(ws, agent, { tools: section })), Effect.exit(tools.remove(ws, tool_id))],
          { concurrency: 2 }
        )
        assert.notStrictEqual(Exit.isSuccess(attach), Exit.isSuccess(removal))
        attached.push((yield* agents.config(ws, agent)).tools.tool_ids.length === 1)
        assert.strictEqual(attached.at(-1), Exit.isSuccess(attach))
      }
    })
  )

  it.effect("keeps the names of an agent's client tools apart", () =>
    Effect.gen(function* () {
      const tools = yield* Tools
      const ws = yield* home("names")
      const make = (name: string) => tools.create(ws, { tool_type: "client", name })
      const [a, b, c] = yield* Effect.all([make("show"), make("show"), make("hide")])
      assert.strictEqual(yield* statusOf(agentWith(ws, [a.tool_id, b.tool_id])), 400)
      yield* agentWith(ws, [a.tool_id, c.tool_id])
      assert.strictEqual(yield* statusOf(tools.update(ws, c.tool_id, { name: "show" })), 400)
      assert.strictEqual((yield* tools.update(ws, b.tool_id, { name: "hide" })).name, "hide")
    })
  )

  it.effect("pins a version's tools; an edited tool shows its agents as changed", () =>
    Effect.gen(function* () {
      const tools = yield* Tools
      const agents = yield* Agents
      const versions = yield* Versions
      const ws = yield* home("pins")
      const { tool_id } = yield* tools.create(ws, booking)
      const agent = yield* agentWith(ws, [tool_id])
      const untouched = yield* agentWith(ws, [])
      const hashOf = (id: string) => Effect.map(agents.config(ws, id), ({ config_hash }) => config_hash)
      const one = yield* versions.publish(ws, agent, {})
      assert.strictEqual(yield* hashOf(agent), one.config_hash)
      const plainHash = yield* hashOf(untouched)

      yield* tools.update(ws, tool_id, { mock_responses: [{ name: "m" }] })
      assert.strictEqual(yield* hashOf(agent), one.config_hash)
      yield* tools.update(ws, tool_id, { url: "https://api.example.com/other" })
      assert.notStrictEqual(yield* hashOf(agent), one.config_hash)
      assert.strictEqual(yield* hashOf(untouched), plainHash)

      const pinned = (runnable: Runnable) =>
        Effect.gen(function* () {
          const row = yield* (yield* Sessions).create({
            workspaceId: ws,
            runnable,
            preview: runnable.versionNumber === null,
            source: "api_key",
            name: "",
            timezone: "UTC",
            endUserId: "",
            metadata: {},
            input: { overrides: {}, dynamicVariables: {}, worldContext: true, toolEvents: true, recordAudio: false },
            maxDurationSeconds: 60
          })
          const claimed = yield* (yield* SessionLife).claim(row.id)
          return claimed.tools.map(({ definition }) => definition.url)
        })
      assert.deepStrictEqual(yield* pinned(yield* versions.live(ws, agent)), [booking.url])
      assert.deepStrictEqual(yield* pinned(yield* versions.draft(ws, agent)), ["https://api.example.com/other"])

      const two = yield* versions.publish(ws, agent, {})
      assert.strictEqual(two.version_number, 2)
      assert.deepStrictEqual(yield* versions.publish(ws, agent, {}), two)
      assert.deepStrictEqual(yield* pinned(yield* versions.live(ws, agent)), ["https://api.example.com/other"])
      yield* tools.update(ws, tool_id, { url: booking.url })
      assert.strictEqual(yield* hashOf(agent), one.config_hash)
    })
  )

  it.effect("sends a real test request, its address untouched, and captures 64 KB", () =>
    Effect.gen(function* () {
      const tools = yield* Tools
      const ws = yield* home("trial")
      const seen: Array<{ readonly url: string; readonly headers: IncomingHttpHeaders; readonly body: string }> = []
      const server = yield* Effect.acquireRelease(
        Effect.promise(
          () =>
            new Promise<ReturnType<typeof createServer>>((resolve) => {
              const made = createServer((request, response) => {
                const chunks: Array<Buffer> = []
                request.on("data", (chunk: Buffer) => chunks.push(chunk))
                request.on("end", () => {
                  const url = request.url ?? ""
                  seen.push({ url, headers: request.headers, body: Buffer.concat(chunks).toString() })
                  response.writeHead(url.startsWith("/big") ? 500 : 200, { "x-answer": "yes" })
                  response.end(url.startsWith("/big") ? "x".repeat(70_000) : "fine")
                })
              })
              made.listen(0, "127.0.0.1", () => resolve(made))
            })
        ),
        (made) => Effect.sync(() => made.close())
      )
      const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const tool = yield* tools.create(ws, {
        ...booking,
        url: `${base}/t/{{day}}?a={{system.today}}`,
        arguments: [{ name: "day" }],
        body_template: '{"day":"{{day}}","today":"{{system.today}}","left":"{{left}}"}',
        headers: [
          { kind: "authorization_basic", value: "Basic c2VjcmV0" },
          { name: "X-Zone", value: "[{{system.timezone}}]" }
        ]
      })
      const result = yield* tools.test(ws, tool.tool_id, { arguments: { day: 'Mon"', system: { timezone: "UTC" } } })
      assert.deepInclude(result, { status_code: 200, body: "fine", response_truncated: false, error: null })
      assert.strictEqual(result.headers["x-answer"], "yes")
      assert.strictEqual(decodeURIComponent(seen[0]?.url ?? ""), "/t/{{day}}?a={{system.today}}")
      assert.deepStrictEqual(JSON.parse(seen[0]?.body ?? ""), { day: 'Mon"', today: "", left: "{{left}}" })
      assert.strictEqual(seen[0]?.headers.authorization, "Basic c2VjcmV0")
      assert.strictEqual(seen[0]?.headers["x-zone"], "[UTC]")

      yield* tools.update(ws, tool.tool_id, { url: `${base}/big` })
      const big = yield* tools.test(ws, tool.tool_id, {})
      assert.deepStrictEqual([big.status_code, big.body.length, big.response_truncated], [500, 65_536, true])

      yield* tools.update(ws, tool.tool_id, { url: "http://127.0.0.1:1/" })
      const none = yield* tools.test(ws, tool.tool_id, {})
      assert.deepInclude(none, { status_code: null, body: "", error: "no connection to the host" })
      // Its credentials went when its address did: also back at the first one, nothing is sent.
      yield* tools.update(ws, tool.tool_id, { url: base })
      yield* tools.test(ws, tool.tool_id, {})
      const last = seen.at(-1)?.headers
      assert.deepStrictEqual([last?.authorization, last?.["x-zone"]], [undefined, undefined])
    })
  )
})
