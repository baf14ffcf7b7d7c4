// Events on their way: real PostgreSQL, real endpoints on loopback, real time.
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { createHmac } from "node:crypto"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { Agents } from "../../src/agents/Agents.ts"
import { Platform } from "../../src/Platform.ts"
import { SessionLife } from "../../src/sessions/SessionLife.ts"
import { type NewSession, Sessions } from "../../src/sessions/Sessions.ts"
import * as TestDatabase from "../../src/testing/TestDatabase.ts"
import { Versions } from "../../src/agents/Versions.ts"
import * as WebhookWorker from "../../src/webhooks/WebhookWorker.ts"
import { Deliveries } from "../../src/webhooks/Deliveries.ts"
import { Outbox } from "../../src/webhooks/Outbox.ts"
import { signatureOf } from "../../src/webhooks/WebhookSignature.ts"
import * as Workspace from "../../src/Workspace.ts"
import { Workspaces } from "../../src/identity/Workspaces.ts"

const platform = Layer.succeed(Platform, {
  voices: new Set<string>(),
  asrModels: ["vendor:transcribe-1"],
  llmModels: ["demo"],
  allowedPrivate: ["127.0.0.1"],
  cloning: false,
  trialBalance: 5_000_000_000n
})
const live = WebhookWorker.layer({ vendor: "fine-voice", userAgent: "test" }).pipe(
  Layer.provideMerge(Workspace.layer(undefined)),
  Layer.provideMerge(Layer.mergeAll(platform, TestDatabase.layer))
)

interface Hit {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** The second of its signature, which is right. */
const verified = (hit: Hit | undefined, secret: string): number => {
  const signature = String(hit?.headers["x-fine-voice-webhook-signature"])
  const t = /^t=(\d+),/.exec(signature)?.[1] ?? ""
  const v1 = createHmac("sha256", secret).update(`${t}.${hit?.body}`).digest("hex")
  assert.strictEqual(signature, `t=${t},v1=${v1}`)
  return Number(t)
}

/** Answers with the codes in turn, the last one for ever; never when there is none. */
const endpoint = (codes: ReadonlyArray<number>): Effect.Effect<{ url: string; hits: Array<Hit> }, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<{ url: string; hits: Array<Hit>; close: () => void }>((resolve) => {
          const hits: Array<Hit> = []
          const server = createServer((request, response) => {
            let body = ""
            request.on("data", (chunk) => (body += String(chunk)))
            request.on("end", () => {
              hits.push({ headers: request.headers, body })
              const code = codes[Math.min(hits.length, codes.length) - 1]
              if (code !== undefined) response.writeHead(code).end("noted")
            })
          })
          server.listen(0, "127.0.0.1", () => {
            const { port } = server.address() as AddressInfo
            resolve({
              url: `http://127.0.0.1:${port}/hook`,
              hits,
              close: () => void server.close().closeAllConnections()
            })
          })
        })
    ),
    ({ close }) => Effect.sync(close)
  )

const office = Effect.fnUntraced(function* (name: string, hooks: ReadonlyArray<{ url: string; secret?: string }>) {
  const ws = yield* (yield* Workspaces).ensure(name)
  const agent = yield* (yield* Agents).create(ws, {
    name: "Ada",
    config: { webhooks: { conversation_init: null, post_call: hooks } }
  })
  const versions = yield* Versions
  yield* versions.publish(ws, agent.agent_id, {})
  const input: NewSession = {
    workspaceId: ws,
    runnable: yield* versions.live(ws, agent.agent_id),
    preview: false,
    source: "api_key",
    name: "",
    timezone: "UTC",
    endUserId: "u1",
    metadata: { order: 7 },
    input: { overrides: {}, dynamicVariables: {}, worldContext: true, toolEvents: true, recordAudio: true },
    maxDurationSeconds: 60
  }
  return { ws, input }
})

const until = (what: string, holds: () => boolean) =>
  Effect.gen(function* () {
    for (let i = 0; i < 400 && !holds(); i++) yield* Effect.sleep(50)
    assert.isTrue(holds(), what)
  })

const ended = Effect.fnUntraced(function* (input: NewSession) {
  const life = yield* SessionLife
  const { id } = yield* (yield* Sessions).create(input)
  yield* life.claim(id)
  yield* life.settle(id, "user_hangup")
  return id
})

layer(live, { excludeTestServices: true, timeout: "60 seconds" })("Webhooks", (it) => {
  it.effect("tells every endpoint of the end, signed with its own secret, and keeps what was said", () =>
    Effect.gen(function* () {
      const one = yield* endpoint([200])
      const two = yield* endpoint([204])
      const { ws, input } = yield* office("told", [{ url: one.url, secret: "s3cret" }, { url: two.url }])
      const id = yield* ended(input)
      yield* until("both were told", () => one.hits.length === 1 && two.hits.length === 1)
      const [hit] = one.hits
      const body = JSON.parse(hit?.body ?? "") as Record<string, unknown>
      assert.deepInclude(body, { event: "call.ended", ended_reason: "user_hangup" })
      assert.deepInclude(body["session"], { id, end_user_id: "u1", metadata: { order: 7 }, end_reason: "user_hangup" })
      const signature = String(hit?.headers["x-fine-voice-webhook-signature"])
      const t = /t=(\d+)/.exec(signature)?.[1] ?? ""
      const v1 = createHmac("sha256", "s3cret").update(`${t}.${hit?.body}`).digest("hex")
      assert.strictEqual(signature, `t=${t},v1=${v1}`)
      assert.isUndefined(two.hits[0]?.headers["x-fine-voice-webhook-signature"])
      assert.strictEqual(two.hits[0]?.body, hit?.body)
      const deliveries = yield* Deliveries
      let log = yield* deliveries.ofSession(ws, id)
      for (let i = 0; i < 100 && log.some(({ status }) => status === "pending"); i++) {
        yield* Effect.sleep(20)
        log = yield* deliveries.ofSession(ws, id)
      }
      assert.deepEqual(
        log.map(({ attempts, status }) => [status, attempts[0]?.status_code, attempts[0]?.response]),
        [
          ["delivered", 200, "noted"],
          ["delivered", 204, ""]
        ]
      )
      assert.strictEqual((yield* Effect.flip(deliveries.ofSession("ws_other", id))).status, 404)
    })
  )

  it.effect(
    "tries three times with the same bytes and fresh signatures, holds later events back, then sends again on demand",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const outbox = yield* Outbox
        const deliveries = yield* Deliveries
        const bad = yield* endpoint([500, 500, 500, 200])
        const { ws, input } = yield* office("retried", [{ url: bad.url, secret: "x" }])
        const id = yield* ended(input)
        const rows = yield* sql<never>`SELECT * FROM sessions WHERE id = ${id}`
        yield* outbox.put(rows[0]!, "call.analyzed", JSON.stringify({ event: "call.analyzed" }))
        yield* until("three attempts and the next event", () => bad.hits.length === 4)
        const [first, second, third, fourth] = bad.hits
        assert.strictEqual(first?.body, second?.body)
        assert.strictEqual(second?.body, third?.body)
        // One second, then five: at the least, whatever the machine's load.
        const sentAt = [first, second, third].map((hit) => verified(hit, "x"))
        assert.isAtLeast(sentAt[2]! - sentAt[0]!, 5)
        assert.match(fourth?.body ?? "", /call\.analyzed/)
        const log = yield* deliveries.ofSession(ws, id)
        assert.deepEqual(
          log[0]?.attempts.map(({ status_code }) => status_code),
          [500, 500, 500]
        )
        assert.strictEqual(log[0]?.status, "failed")
        yield* deliveries.resend(ws, log[0]?.delivery_id ?? "")
        yield* until("sent again", () => bad.hits.length === 5)
        assert.strictEqual(bad.hits[4]?.body, first?.body)
        assert.strictEqual((yield* Effect.flip(deliveries.resend("ws_other", log[0]?.delivery_id ?? ""))).status, 404)
      })
  )

  it.effect("signs with the secret of the version the session ran, also what was waiting when it was changed", () =>
    Effect.gen(function* () {
      const versions = yield* Versions
      const hook = yield* endpoint([500, 200])
      const { input, ws } = yield* office("rotated", [{ url: hook.url, secret: "old" }])
      const agent = input.runnable.agentId
      const first = yield* ended(input)
      yield* until("a first attempt that failed", () => hook.hits.length === 1)
      const webhooks = { conversation_init: null, post_call: [{ url: hook.url, secret: "new" }] }
      yield* (yield* Agents).updateConfig(ws, agent, { webhooks })
      yield* versions.publish(ws, agent, {})
      const second = yield* ended({ ...input, runnable: yield* versions.live(ws, agent) })
      const old = yield* ended(input)
      yield* until("all were told", () => hook.hits.length >= 4)
      const of = (id: string) => hook.hits.filter(({ body }) => body.includes(id))
      assert.isAtLeast(of(first).length, 2)
      for (const hit of of(first)) verified(hit, "old")
      for (const hit of of(old)) verified(hit, "old")
      for (const hit of of(second)) verified(hit, "new")
      assert.isAtLeast(of(second).length, 1)
    })
  )

  it.effect("lets an endpoint that does not answer hold up no other", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const mute = yield* endpoint([])
      const quick = yield* endpoint([200])
      const { input } = yield* office("beside", [{ url: mute.url }, { url: quick.url }])
      const id = yield* ended(input)
      const rows = yield* sql<never>`SELECT * FROM sessions WHERE id = ${id}`
      yield* (yield* Outbox).put(rows[0]!, "call.analyzed", JSON.stringify({ event: "call.analyzed" }))
      yield* until("both events at the quick one", () => quick.hits.length >= 2 && mute.hits.length >= 1)
      assert.deepEqual(
        quick.hits.map(({ body }) => (JSON.parse(body) as { readonly event: string }).event),
        ["call.ended", "call.analyzed"]
      )
      // The later event waits for the first, which is still being tried.
      const states = yield* sql<{ status: string; attempts: number }>`SELECT status, attempts FROM webhook_deliveries
        WHERE session_id = ${id} AND url = ${mute.url} ORDER BY seq`
      assert.deepEqual(
        states.map(({ status }) => status),
        ["pending", "pending"]
      )
    })
  )

  it.effect("charges a conversation by the second, once, a preview too", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const life = yield* SessionLife
      const { ws, input } = yield* office("charged", [])
      const { id } = yield* (yield* Sessions).create(input)
      yield* life.claim(id)
      yield* sql`UPDATE sessions SET started_at = now() - interval '90 seconds' WHERE id = ${id}`
      yield* life.settle(id, "user_hangup")
      yield* life.settle(id, "agent_hangup")
      yield* ended({ ...input, preview: true })
      const entries = yield* sql<{ kind: string; quantity: string; cost_nano: string }>`
        SELECT kind, quantity::text, cost_nano::text FROM usage_entries WHERE workspace_id = ${ws}`
      assert.deepEqual(entries, [
        { kind: "agent", quantity: "90", cost_nano: "90000000" },
        { kind: "agent", quantity: "0", cost_nano: "0" }
      ])
    })
  )

  it.effect("tells nobody of previews and of sessions nobody joined", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const life = yield* SessionLife
      const hook = yield* endpoint([200])
      const { input } = yield* office("silent", [{ url: hook.url }])
      yield* ended({ ...input, preview: true })
      const { id } = yield* (yield* Sessions).create(input)
      yield* life.settle(id, "cancelled")
      const rows = yield* sql`SELECT 1 FROM webhook_deliveries WHERE url = ${hook.url}`
      assert.strictEqual(rows.length, 0)
    })
  )

  it.effect("notes an endpoint that is not there", () =>
    Effect.gen(function* () {
      const deliveries = yield* Deliveries
      const { ws, input } = yield* office("lost", [{ url: "http://127.0.0.1:1/hook" }])
      const id = yield* ended(input)
      let log = yield* deliveries.ofSession(ws, id)
      for (let i = 0; i < 400 && (log[0]?.attempts.length ?? 0) < 1; i++) {
        yield* Effect.sleep(50)
        log = yield* deliveries.ofSession(ws, id)
      }
      assert.isNotNull(log[0]?.attempts[0]?.error ?? null)
      assert.isNull(log[0]?.attempts[0]?.status_code ?? null)
    })
  )

  it.effect("signs as the document says", () =>
    Effect.sync(() => {
      const expected = createHmac("sha256", "k").update("1700000000.{}").digest("hex")
      assert.strictEqual(signatureOf("k", "{}", 1_700_000_000_999), `t=1700000000,v1=${expected}`)
    })
  )
})
