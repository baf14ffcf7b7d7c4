// What must hold after each restart, and once everything was delivered. Each check throws
// with all that does not hold.
import { askDatabase } from "@parley/workspace/testing/askDatabase"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { RunningService } from "../RunningService.ts"
import type { WebhookReceiver } from "../WebhookReceiver.ts"
import { type CrashRecord, endpoints, pause, secrets } from "./CrashRecord.ts"

const drainMs = 120_000

/**
 * Right after a start: throws with every acknowledged write that is not there, and with calls that are still active.
 * Sessions that expired or were joined unnoticed are taken over into the record.
 */
export const checkAcknowledged = async (service: RunningService, data: string, record: CrashRecord): Promise<void> => {
  const faults: Array<string> = []
  const rows = await askDatabase(data, "SELECT id, status, started_at FROM sessions")
  const found = new Map(rows.map(({ id, status }) => [String(id), String(status)]))
  for (const [id, status] of found) if (status === "active") faults.push(`session ${id} is still active`)
  for (const [id, statuses] of record.sessions) {
    const status = found.get(id)
    if (status === undefined || !statuses.has(status)) {
      faults.push(`session ${id} is ${status}, not ${[...statuses].join(" or ")}`)
    }
  }
  // Joined a moment before the kill, without the caller's knowing.
  for (const { id, started_at } of rows) if (started_at !== null) record.answered.add(String(id))
  for (const id of record.answered) if (found.get(id) !== "completed") faults.push(`call ${id} is ${found.get(id)}`)
  for (const ticket of record.waiting.slice()) {
    if (found.get(ticket.session_id) !== "pending") record.waiting.splice(record.waiting.indexOf(ticket), 1)
  }
  const { tools } = await everyTool(service)
  for (const [id, descriptions] of record.tools) {
    if (!descriptions.includes(tools.get(id))) {
      faults.push(`tool ${id} is ${tools.get(id)}, not ${descriptions.join(" or ")}`)
    }
  }
  const path = `/v1/agent/agents/${record.agent}/versions`
  const { total } = await service.api<{ total: number }>("GET", `${path}?include_total=true`)
  if (total < record.versions) faults.push(`${total} versions of ${record.versions}`)
  record.versions = total
  if (faults.length > 0) throw new Error(faults.join("\n"))
}

const everyTool = async (service: RunningService) => {
  const tools = new Map<string, string>()
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: {
      readonly tools: ReadonlyArray<{ readonly tool_id: string; readonly description: string }>
      readonly next_cursor: string | null
    } = await service.api("GET", `/v1/agent/tools?page_size=100${cursor === "" ? "" : `&cursor=${cursor}`}`)
    for (const { description, tool_id } of page.tools) tools.set(tool_id, description)
    cursor = page.next_cursor
  }
  return { tools }
}

/** Waits until nothing is left to be analysed or sent; returns how long that took in ms, throws after two minutes. */
export const drained = async (data: string): Promise<number> => {
  const began = performance.now()
  for (;;) {
    const [left] = await askDatabase(
      data,
      `SELECT (SELECT count(*) FROM session_analyses WHERE status = 'queued')::int AS analyses,
        (SELECT count(*) FROM webhook_deliveries WHERE status = 'pending')::int AS deliveries`
    )
    if (left?.["analyses"] === 0 && left["deliveries"] === 0) return performance.now() - began
    if (performance.now() - began > drainMs) throw new Error(`not drained in ${drainMs} ms: ${JSON.stringify(left)}`)
    await pause(200)
  }
}

/**
 * Throws unless every answered call was delivered to both endpoints, its end before its analysis, and nothing else was.
 * Returns the figures of the report.
 */
export const checkDeliveries = async (
  data: string,
  record: CrashRecord,
  { deliveries, faults: wrong }: WebhookReceiver
) => {
  const faults = [...wrong]
  const byCall = new Map<string, Array<(typeof deliveries)[number]>>()
  for (const delivery of deliveries) {
    const key = `${delivery.endpoint} ${delivery.sessionId}`
    byCall.set(key, [...(byCall.get(key) ?? []), delivery])
    if (!record.answered.has(delivery.sessionId)) faults.push(`${delivery.sessionId} was told and never answered`)
  }
  for (const id of record.answered) {
    for (const endpoint of endpoints) {
      const told = byCall.get(`${endpoint} ${id}`) ?? []
      const taken = (event: string) => told.findIndex((one) => one.event === event && one.status === 200)
      const analysed = told.findIndex(({ event }) => event === "call.analyzed")
      if (taken("call.ended") < 0) faults.push(`${endpoint} was not told that ${id} ended`)
      if (taken("call.analyzed") < 0) faults.push(`${endpoint} was not told that ${id} was analysed`)
      if (analysed < taken("call.ended")) faults.push(`${endpoint} was told of ${id} in the wrong order`)
      const bodies = new Set(told.map(({ body, event }) => `${event} ${body}`))
      if (bodies.size !== 2) faults.push(`${endpoint} was told ${bodies.size} different things of ${id}`)
    }
  }
  if (faults.length > 0) throw new Error(faults.join("\n"))
  const count = async (statement: string) => Number((await askDatabase(data, statement))[0]?.["n"])
  const ids = new Set(deliveries.map(({ id }) => id))
  const refused = deliveries.filter(({ status }) => status === 500).length
  return {
    sessions: await count("SELECT count(*)::int AS n FROM sessions"),
    answered: record.answered.size,
    cutCalls: await count("SELECT count(*)::int AS n FROM sessions WHERE end_reason = 'internal_error'"),
    analysesCompleted: await count("SELECT count(*)::int AS n FROM session_analyses WHERE status = 'completed'"),
    deliveries: deliveries.length,
    repeated: deliveries.length - ids.size - refused,
    refused
  }
}

/** Throws when one of the scenario's secrets can be read in a file of the data folder. */
export const checkNoSecretIn = (data: string): void => {
  for (const entry of readdirSync(data, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = read(path)
    for (const [name, secret] of Object.entries(secrets)) {
      if (bytes.includes(secret)) throw new Error(`the ${name} secret can be read in ${path.slice(data.length)}`)
    }
  }
}

/** Empty when the file is gone: a database at work removes files. */
export const read = (path: string): Buffer => {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0)
    throw error
  }
}
