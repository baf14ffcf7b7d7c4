// How many deliveries a second leave the outbox: signed, sent to an endpoint on loopback, each attempt and its outcome
// stored. Compared with a plain loop that signs and posts the same bodies by fetch, as many at once, storing nothing.
import { askDatabase } from "@parley/workspace/testing/askDatabase"
import { signatureOf } from "@parley/workspace/webhooks/WebhookSignature"
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { percentile, report } from "./report.ts"

const rounds = 5
const perRound = Number(process.env["PER_ROUND"] ?? 2000)
/** As many as the webhook worker has under way. */
const atOnce = 32
const secret = "bench-secret"

const data = mkdtempSync(join(tmpdir(), "parley-bench-"))
const service = fork(join(import.meta.dirname, "managementService.ts"), [data], {
  execArgv: process.env["PROFILE"] === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${process.env["PROFILE"]}`]
})
const [hello] = (await once(service, "message")) as [{ url: string; key: string }]
const sink = fork(join(import.meta.dirname, "webhookSink.ts"))
const [{ url }] = (await once(sink, "message")) as [{ url: string }]

const api = async <A>(path: string, body: unknown): Promise<A> => {
  const headers = { authorization: `Bearer ${hello.key}`, "content-type": "application/json" }
  const response = await fetch(hello.url + path, { method: "POST", headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as A
}

/** Milliseconds from the first to the last of `perRound` that `send` has come. */
const measure = async (send: () => Promise<unknown>): Promise<number> => {
  sink.send({ expect: perRound })
  const done = once(sink, "message") as Promise<[{ ms: number }]>
  await send()
  return (await done)[0].ms
}

const session = "'bench_' || n || '_' || $1::int"
const body = (n: number) => JSON.stringify({ event: "call.ended", session: { id: `bench_${n}` }, filler: filler })
const filler = "x".repeat(700)

/** All due at one moment, when all are there. */
const fromOutbox = (round: number) =>
  askDatabase(
    data,
    `WITH agent AS (SELECT id, workspace_id, draft->'webhooks'->'post_call'->0->>'secret' AS secret FROM agents),
       made AS (INSERT INTO sessions (id, workspace_id, agent_id, agent_name, version_number, config_hash, status, source,
           timezone, max_duration_seconds, expires_at)
         SELECT ${session}, agent.workspace_id, agent.id, 'Desk', 1, 'sha256:0', 'completed', 'api_key', 'UTC', 60, now()
         FROM agent, generate_series(1, $2::int) n RETURNING id, workspace_id)
     INSERT INTO webhook_deliveries (id, workspace_id, session_id, event, url, secret, body, due_at)
     SELECT 'delivery_' || made.id, made.workspace_id, made.id, 'call.ended', $3, agent.secret,
       json_build_object('event', 'call.ended', 'session', json_build_object('id', made.id), 'filler', $4::text)::text,
       now() + interval '2 seconds'
     FROM made, agent`,
    [round, perRound, url, filler]
  )

const fromLoop = async (): Promise<void> => {
  let left = perRound
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      const bytes = body(left)
      const headers = {
        "content-type": "application/json",
        "x-vendor-webhook-id": `delivery_${left}`,
        "x-vendor-webhook-signature": signatureOf(secret, bytes, Date.now())
      }
      await (await fetch(url, { method: "POST", headers, body: bytes })).arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: atOnce }, client))
}

try {
  const webhooks = { post_call: [{ url, secret }] }
  const { agent_id } = await api<{ agent_id: string }>("/v1/agent/agents", { name: "Desk", config: { webhooks } })
  await api(`/v1/agent/agents/${agent_id}/publish`, {})
  const rows: Array<{ what: string; round: number; perSecond: number }> = []
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const [what, send] of [
      ["outbox", () => fromOutbox(round)],
      ["loop", fromLoop]
    ] as const) {
      const perSecond = ((perRound - 1) * 1000) / (await measure(send))
      if (round > 0) rows.push({ what, round, perSecond })
    }
  }
  const values = (what: string) => rows.filter((row) => row.what === what).map(({ perSecond }) => perSecond)
  report(
    "outbox",
    [
      { what: "deliveries from the outbox", unit: "a second", values: values("outbox") },
      { what: "posts by a plain loop", unit: "a second", values: values("loop") }
    ],
    rows
  )
  const [left] = await askDatabase(
    data,
    "SELECT count(*) FILTER (WHERE status <> 'delivered')::int AS n, max(attempts)::int AS most FROM webhook_deliveries"
  )
  const share = percentile(values("outbox"), 50) / percentile(values("loop"), 50)
  console.log(
    `the outbox, with what it stores, at ${share.toFixed(2)} of the loop's rate; ` +
      `not yet settled ${String(left?.["n"])}, most attempts ${String(left?.["most"])}`
  )
} finally {
  sink.disconnect()
  service.disconnect()
  await once(service, "exit")
  rmSync(data, { recursive: true, force: true })
}
