// How long a page of sessions takes over HTTP when there are a million of them: the first page, filters common, rare
// and empty, and cursors from half way down. Compared with the same questions to ten thousand.
import { askDatabase } from "@parley/workspace/testing/askDatabase"
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { percentile, report } from "./report.ts"

const many = Number(process.env["ROWS"] ?? 1_000_000)
const few = 10_000
const times = 40
const targetMs = 50

const data = mkdtempSync(join(tmpdir(), "parley-bench-"))
const service = fork(join(import.meta.dirname, "managementService.ts"), [data])
const [hello] = (await once(service, "message")) as [{ url: string; key: string }]
const headers = { authorization: `Bearer ${hello.key}`, "content-type": "application/json" }

const list = async (query: string): Promise<{ readonly ms: number; readonly rows: number }> => {
  const began = performance.now()
  const response = await fetch(`${hello.url}/v1/agent/sessions?${query}`, { headers })
  const body = (await response.json()) as { readonly sessions: ReadonlyArray<unknown> }
  const ms = performance.now() - began
  if (response.status !== 200) throw new Error(`${query}: ${response.status} ${JSON.stringify(body)}`)
  return { ms, rows: body.sessions.length }
}

const ask = (statement: string, values: ReadonlyArray<unknown> = []) => askDatabase(data, statement, values)

/**
 * One session every 30 seconds until now. Most are completed calls of twenty agents, one in a hundred failed, one in ten
 * thousand is of a rare agent, ended by a rare reason, or waits; a tenth is another workspace's.
 */
const fill = async (from: number, to: number): Promise<void> => {
  await ask(`INSERT INTO workspaces (id, name) VALUES ('ws_other', 'other') ON CONFLICT DO NOTHING`)
  for (let first = from; first < to; first += 100_000) {
    await ask(
      `INSERT INTO sessions (id, workspace_id, agent_id, agent_name, version_number, config_hash, status, source, name,
         end_reason, caller_number, timezone, end_user_id, metadata, request, max_duration_seconds, created_at,
         expires_at, started_at, ended_at, duration_seconds)
       SELECT 'session_' || lpad(n::text, 20, '0'),
         CASE WHEN n % 10 = 5 THEN 'ws_other' ELSE (SELECT id FROM workspaces WHERE name = 'default') END,
         CASE WHEN n % 10000 = 1 THEN 'agent_rare' ELSE 'agent_' || n % 20 END, 'Desk', 1, 'sha256:0',
         CASE WHEN n % 10000 = 3 THEN 'pending' WHEN n % 100 = 7 THEN 'failed' ELSE 'completed' END, 'api_key', '',
         CASE WHEN n % 10000 = 3 THEN NULL WHEN n % 100 = 7 THEN 'room_join_timeout'
           WHEN n % 10000 = 9 THEN 'heartbeat_timeout' ELSE 'user_hangup' END,
         CASE WHEN n % 3 = 0 THEN '+1555' || lpad((n % 50000)::text, 7, '0') ELSE '' END,
         'UTC', 'user ' || n % 1000, '{"order": 7}', '{"overrides": {}}', 1800, at, now() + interval '1 day', at,
         at + interval '90 seconds', 90
       FROM generate_series($1::int, $2::int) n,
         LATERAL (SELECT now() - (${many} - n) * interval '30 seconds' AS at) moment`,
      [first, Math.min(first + 100_000, to) - 1]
    )
  }
  await ask("VACUUM ANALYZE sessions")
}

const cursorAt = async (part: number): Promise<string> => {
  const [row] = await ask(
    `SELECT seq::text AS seq FROM sessions WHERE seq >= (SELECT min(seq) + ((max(seq) - min(seq)) * ${part})::bigint
       FROM sessions) AND workspace_id <> 'ws_other' ORDER BY seq LIMIT 1`
  )
  return `cursor=${Buffer.from(`after ${String(row?.["seq"])}`).toString("base64url")}`
}

const ago = (share: number, rows: number) => new Date(Date.now() - rows * share * 30_000).toISOString()

const questions = async (rows: number): Promise<ReadonlyArray<readonly [what: string, query: string]>> => {
  const half = await cursorAt(0.5)
  return [
    ["first page", ""],
    ["first page of 100", "page_size=100"],
    ["status, common", "status=completed"],
    ["status, one in a hundred", "status=failed"],
    ["status, rare", "status=pending"],
    ["statuses, none", "status=active,unknown"],
    ["end reason, rare", "end_reason=heartbeat_timeout"],
    ["direction, none", "direction=outbound"],
    ["agent, common", "agent_id=agent_4"],
    ["agent, rare", "agent_id=agent_rare"],
    ["agent, none", "agent_id=agent_never"],
    ["agent, common, and status, rare", "agent_id=agent_3&status=pending"],
    ["caller", "caller_number=%2B15550000003"],
    ["created after yesterday", `created_after=${ago(0.01, rows)}`],
    ["created before the first tenth", `created_before=${ago(0.9, rows)}`],
    ["created in the middle, failed", `created_after=${ago(0.6, rows)}&created_before=${ago(0.5, rows)}&status=failed`],
    ["cursor half way down", half],
    ["cursor half way down, failed", `${half}&status=failed`],
    ["cursor half way down, one agent", `${half}&agent_id=agent_4`],
    ["cursor near the end", await cursorAt(0.001)]
  ]
}

try {
  const rows: Array<{ rows: number; what: string; ms: number; found: number }> = []
  const run = async (size: number): Promise<void> => {
    for (const [what, query] of await questions(size)) {
      await list(query)
      for (let n = 0; n < times; n++) {
        const { ms, rows: found } = await list(query)
        rows.push({ rows: size, what, ms, found })
      }
    }
  }
  await fill(many - few, many)
  await run(few)
  const began = performance.now()
  await ask("DELETE FROM sessions")
  await fill(0, many)
  console.log(`${many} sessions in ${((performance.now() - began) / 1000).toFixed(0)} s`)
  await run(many)
  const values = (size: number, what: string) =>
    rows.filter((row) => row.rows === size && row.what === what).map(({ ms }) => ms)
  const names = [...new Set(rows.map(({ what }) => what))]
  report(
    "session-list",
    names.map((what) => ({ what, unit: "ms", values: values(many, what), target: `p95 <= ${targetMs}` })),
    rows
  )
  const worst = names.toSorted((a, b) => percentile(values(many, b), 95) - percentile(values(many, a), 95))[0] ?? ""
  const p95 = (size: number) => percentile(values(size, worst), 95).toFixed(1)
  console.log(`slowest: ${worst}, p95 ${p95(many)} ms; of ${few} sessions ${p95(few)} ms`)
} finally {
  service.disconnect()
  await once(service, "exit")
  rmSync(data, { recursive: true, force: true })
}
