// A day at the service that is cut by kill -9 at random moments: calls are held over WebRTC, tools edited, versions
// published, webhooks delivered, analyses made, and after each restart on the same data folder all that was
// acknowledged must be there. Throws with what is not; the seed makes the same choices again, though not the same races.
import * as FakeChat from "@parley/llm/testing/FakeChatServer"
import { askDatabase } from "@parley/workspace/testing/askDatabase"
import { Effect, Exit, Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { joinCall } from "../RtcCaller.ts"
import { type RunningService, startService } from "../RunningService.ts"
import { listenForWebhooks, type WebhookReceiver } from "../WebhookReceiver.ts"

export interface CrashScenarioOptions {
  /** How often it is killed. */
  readonly points: number
  readonly seed: number
  /** The longest the service lives after a start. */
  readonly longestMs: number
  readonly say?: (line: string) => void
}

export interface CrashReport {
  readonly startsMs: ReadonlyArray<number>
  readonly killedWhileStarting: number
  readonly sessions: number
  readonly answered: number
  /** Calls that a kill ended. */
  readonly cutCalls: number
  readonly toolWrites: number
  readonly versions: number
  readonly analysesCompleted: number
  readonly deliveries: number
  readonly repeated: number
  readonly refused: number
  /** From the last start until everything was told. */
  readonly drainMs: number
}

/** None may be readable in the data folder. */
const secrets = {
  hook: "killed-day-hook-secret-Noh8ahthoo",
  tool: "killed-day-tool-secret-Ieyoo2cahn",
  model: "killed-day-model-key-eiSh5aeraep"
}
const endpoints = ["/steady", "/refusing"] as const
const drainMs = 120_000

interface Ticket {
  readonly session_id: string
  readonly rtc_url: string
  readonly token: string
}

/** A record, as it was acknowledged or, where a write was cut, as it may be. */
type Known = Map<string, ReadonlyArray<string | undefined>>

interface Day {
  readonly random: () => number
  readonly agent: string
  /** Descriptions; undefined: not there. */
  readonly tools: Known
  /** Sessions that were acknowledged, with the statuses they may have. */
  readonly sessions: Map<string, ReadonlySet<string>>
  readonly waiting: Array<Ticket>
  readonly answered: Set<string>
  versions: number
  toolWrites: number
}

export const runCrashScenario = async ({
  longestMs,
  points,
  say,
  seed
}: CrashScenarioOptions): Promise<CrashReport> => {
  const random = randomFrom(seed)
  const data = mkdtempSync(join(tmpdir(), "parley-day-"))
  const scope = Effect.runSync(Scope.make())
  const receiver = await listenForWebhooks(secrets.hook, (endpoint) => endpoint === "/refusing" && random() < 0.3)
  const chat = await Effect.runPromise(
    Scope.provide(
      FakeChat.make(() => ({ kind: "say", text: '{"summary": "Somebody said hello."}', gapMs: 40 })),
      scope
    )
  )
  const env = { PARLEY_DATA: data, PARLEY_ALLOW_PRIVATE_NETWORKS: "127.0.0.0/8", PARLEY_TRIAL_BALANCE: "unlimited" }
  let service: RunningService | undefined
  try {
    const startsMs: Array<number> = []
    let killedWhileStarting = 0
    const start = async () => {
      const before = performance.now()
      const started = await startService(env)
      startsMs.push(performance.now() - before)
      return started
    }
    service = await start()
    const day: Day = {
      random,
      agent: await makeAgent(service, receiver, chat.baseUrl),
      tools: new Map(),
      sessions: new Map(),
      waiting: [],
      answered: new Set(),
      versions: 1,
      toolWrites: 0
    }
    for (let point = 1; point <= points; point++) {
      const lived = Math.round(random() * longestMs)
      await work(service, day, lived)
      noSecretIn(data)
      if (random() < 0.2) {
        await killWhileStarting(env, random() * 2500)
        killedWhileStarting++
      }
      service = await start()
      await check(service, data, day)
      say?.(
        `point ${point}: killed after ${lived} ms; ${day.sessions.size} sessions, ${day.answered.size} answered, ` +
          `${receiver.deliveries.length} deliveries`
      )
    }
    for (const { session_id } of day.waiting) await service.api("POST", `/v1/agent/sessions/${session_id}/end`)
    const drained = await drain(data)
    const told = await tell(data, day, receiver)
    await service.stop()
    noSecretIn(data)
    return {
      startsMs,
      killedWhileStarting,
      toolWrites: day.toolWrites,
      versions: day.versions,
      drainMs: drained,
      ...told
    }
  } finally {
    await service?.kill()
    await Effect.runPromise(Scope.close(scope, Exit.void))
    receiver.close()
    await stopDatabase(data)
    rmSync(data, { recursive: true, force: true })
  }
}

const makeAgent = async (service: RunningService, receiver: WebhookReceiver, baseUrl: string): Promise<string> =>
  service.agent({
    prompt: { system_prompt: "You are a receptionist.", first_message_mode: "off" },
    llm: { custom: { base_url: baseUrl, model: "m", api_key: secrets.model } },
    webhooks: { post_call: endpoints.map((path) => ({ url: receiver.url + path, secret: secrets.hook })) }
  })

/** Everybody works until the service is killed under them. What they write after that fails, and may. */
const work = async (service: RunningService, day: Day, ms: number): Promise<void> => {
  const over = new AbortController()
  const busy = async (act: () => Promise<void>): Promise<void> => {
    while (!over.signal.aborted) {
      try {
        await act()
      } catch (error) {
        if (!over.signal.aborted) throw error
      }
    }
  }
  const all = Promise.all([
    busy(() => holdCall(service, day, over.signal)),
    busy(() => holdCall(service, day, over.signal)),
    busy(() => openSession(service, day)),
    busy(() => editTool(service, day)),
    busy(() => publish(service, day))
  ])
  try {
    await Promise.race([all, pause(ms)])
  } finally {
    over.abort()
    await service.kill()
  }
  await all
}

/** Opened, or one that waits since before a restart; joined, talked in, and ended in one of three ways. */
const holdCall = async (service: RunningService, day: Day, over: AbortSignal): Promise<void> => {
  const ticket = day.waiting.shift() ?? (await open(service, day))
  const current = { ...ticket, rtc_url: service.url.replace(/^http/, "ws") }
  day.sessions.set(ticket.session_id, new Set(["pending", "active", "completed"]))
  const caller = await within(joinCall(current), over)
  const gone = within(new Promise<never>(() => undefined), over)
  gone.catch(() => undefined)
  try {
    await Promise.race([happened(() => caller.state() === "listening"), gone])
    day.answered.add(ticket.session_id)
    day.sessions.set(ticket.session_id, new Set(["active", "completed"]))
    await caller.send({ type: "user.message", text: "hello" })
    await Promise.race([happened(() => caller.heard.length > 10), gone])
    if (day.random() < 0.5) {
      await service.api("POST", `/v1/agent/sessions/${ticket.session_id}/end`)
      day.sessions.set(ticket.session_id, new Set(["completed"]))
    }
  } finally {
    const left = caller.leave().catch(() => undefined)
    // A goodbye to a dead service takes its time.
    await Promise.race([left, within(new Promise<never>(() => undefined), over).catch(() => undefined), pause(5000)])
  }
}

const open = async (service: RunningService, day: Day): Promise<Ticket> => {
  const ticket = await service.api<Ticket>("POST", "/v1/agent/sessions", { agent_id: day.agent })
  day.sessions.set(ticket.session_id, new Set(["pending"]))
  return ticket
}

/** One that waits, or is cancelled. */
const openSession = async (service: RunningService, day: Day): Promise<void> => {
  await pause(100 + day.random() * 400)
  const ticket = await open(service, day)
  if (day.random() < 0.3) return void day.waiting.push(ticket)
  day.sessions.set(ticket.session_id, new Set(["pending", "failed"]))
  await service.api("POST", `/v1/agent/sessions/${ticket.session_id}/end`)
  day.sessions.set(ticket.session_id, new Set(["failed"]))
}

/** Made, changed several times, sometimes removed. */
const editTool = async (service: RunningService, day: Day): Promise<void> => {
  const headers = [{ kind: "authorization_bearer", value: secrets.tool }]
  const tool = { tool_type: "webhook", name: "Book", url: "https://api.example.com/book", headers, description: "0" }
  const { tool_id } = await service.api<{ tool_id: string }>("POST", "/v1/agent/tools", tool)
  day.tools.set(tool_id, ["0"])
  const path = `/v1/agent/tools/${tool_id}`
  const edits = Math.floor(day.random() * 6)
  const write = async (before: string, after: string | undefined, act: () => Promise<unknown>) => {
    day.tools.set(tool_id, [before, after])
    await act()
    day.tools.set(tool_id, [after])
    day.toolWrites++
    await pause(20)
  }
  for (let edit = 0; edit < edits; edit++) {
    const description = String(edit + 1)
    await write(String(edit), description, () => service.api("PATCH", path, { description }))
  }
  if (day.random() < 0.5) await write(String(edits), undefined, () => service.api("DELETE", path))
}

const publish = async (service: RunningService, day: Day): Promise<void> => {
  await pause(300 + day.random() * 500)
  const path = `/v1/agent/agents/${day.agent}`
  const prompt = { system_prompt: `You are receptionist ${day.versions + 1}.`, first_message_mode: "off" }
  await service.api("PATCH", `${path}/config`, { prompt })
  const { version_number } = await service.api<{ version_number: number }>("POST", `${path}/publish`)
  day.versions = Math.max(day.versions, version_number)
}

/** Right after a start. */
const check = async (service: RunningService, data: string, day: Day): Promise<void> => {
  const faults: Array<string> = []
  const rows = await askDatabase(data, "SELECT id, status, started_at FROM sessions")
  const found = new Map(rows.map(({ id, status }) => [String(id), String(status)]))
  for (const [id, status] of found) if (status === "active") faults.push(`session ${id} is still active`)
  for (const [id, statuses] of day.sessions) {
    const status = found.get(id)
    if (status === undefined || !statuses.has(status)) {
      faults.push(`session ${id} is ${status}, not ${[...statuses].join(" or ")}`)
    }
  }
  // Joined a moment before the kill, without the caller's knowing.
  for (const { id, started_at } of rows) if (started_at !== null) day.answered.add(String(id))
  for (const id of day.answered) if (found.get(id) !== "completed") faults.push(`call ${id} is ${found.get(id)}`)
  for (const ticket of day.waiting.slice()) {
    if (found.get(ticket.session_id) !== "pending") day.waiting.splice(day.waiting.indexOf(ticket), 1)
  }
  const { tools } = await everyTool(service)
  for (const [id, descriptions] of day.tools) {
    if (!descriptions.includes(tools.get(id))) {
      faults.push(`tool ${id} is ${tools.get(id)}, not ${descriptions.join(" or ")}`)
    }
  }
  const path = `/v1/agent/agents/${day.agent}/versions`
  const { total } = await service.api<{ total: number }>("GET", `${path}?include_total=true`)
  if (total < day.versions) faults.push(`${total} versions of ${day.versions}`)
  day.versions = total
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

/** Until nothing waits to be analysed or sent. Returns how long it took. */
const drain = async (data: string): Promise<number> => {
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

/** Every answered call was told at both endpoints, its end before its analysis, and nothing else was told. */
const tell = async (data: string, day: Day, { deliveries, faults: wrong }: WebhookReceiver) => {
  const faults = [...wrong]
  const byCall = new Map<string, Array<(typeof deliveries)[number]>>()
  for (const delivery of deliveries) {
    const key = `${delivery.endpoint} ${delivery.sessionId}`
    byCall.set(key, [...(byCall.get(key) ?? []), delivery])
    if (!day.answered.has(delivery.sessionId)) faults.push(`${delivery.sessionId} was told and never answered`)
  }
  for (const id of day.answered) {
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
    answered: day.answered.size,
    cutCalls: await count("SELECT count(*)::int AS n FROM sessions WHERE end_reason = 'internal_error'"),
    analysesCompleted: await count("SELECT count(*)::int AS n FROM session_analyses WHERE status = 'completed'"),
    deliveries: deliveries.length,
    repeated: deliveries.length - ids.size - refused,
    refused
  }
}

const noSecretIn = (data: string): void => {
  for (const entry of readdirSync(data, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = read(path)
    for (const [name, secret] of Object.entries(secrets)) {
      if (bytes.includes(secret)) throw new Error(`the ${name} secret can be read in ${path.slice(data.length)}`)
    }
  }
}

/** A database at work removes files. */
const read = (path: string): Buffer => {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0)
    throw error
  }
}

const killWhileStarting = async (env: Readonly<Record<string, string>>, ms: number): Promise<void> => {
  const child = spawn(process.execPath, [fileURLToPath(new URL("../../main.ts", import.meta.url))], {
    env: { ...process.env, DATABASE_URL: "", PORT: "0", ...env },
    stdio: "ignore"
  })
  const exit = once(child, "exit")
  await pause(ms)
  child.kill("SIGKILL")
  await exit
}

/** What a killed service left running has nobody who would adopt it once the folder goes. */
const stopDatabase = async (data: string): Promise<void> => {
  const pid = Number(
    read(join(data, "postgres", "postmaster.pid"))
      .toString()
      .split("\n")[0]
  )
  if (!(pid > 1)) return
  try {
    process.kill(pid, "SIGINT")
    for (let tries = 0; tries < 200; tries++) {
      process.kill(pid, 0)
      await pause(50)
    }
  } catch {
    // It is gone.
  }
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))

const happened = async (check: () => boolean): Promise<void> => {
  for (let tries = 0; !check(); tries++) {
    if (tries > 1500) throw new Error("a call did not go on for 30 seconds")
    await pause(20)
  }
}

/** Rejects a little after the day is over: what asks a dead service may never come back. */
const within = <A>(promise: Promise<A>, over: AbortSignal): Promise<A> => {
  const end = new Promise<never>((_resolve, reject) => {
    const tell = () => setTimeout(() => reject(new Error("the service was killed")), 200)
    if (over.aborted) tell()
    else over.addEventListener("abort", tell, { once: true })
  })
  promise.catch(() => undefined)
  return Promise.race([promise, end])
}

/** mulberry32. */
const randomFrom = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
