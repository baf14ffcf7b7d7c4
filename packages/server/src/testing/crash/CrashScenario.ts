// A service that is killed with kill -9 at random moments while calls are held over WebRTC, tools edited, versions
// published, webhooks delivered and analyses made. After each restart on the same data folder everything that was
// acknowledged must be there. Throws with what is not.
import * as FakeChat from "@parley/llm/testing/FakeChatServer"
import { Effect, Exit, Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type RunningService, startService } from "../RunningService.ts"
import { listenForWebhooks, type WebhookReceiver } from "../WebhookReceiver.ts"
import { checkAcknowledged, checkDeliveries, checkNoSecretIn, drained, read } from "./crashChecks.ts"
import { type CrashRecord, endpoints, pause, secrets } from "./CrashRecord.ts"
import { work } from "./crashWork.ts"

/** How long and how often. */
export interface CrashScenarioOptions {
  /** How often the service is killed. */
  readonly points: number
  /** Makes the same choices again, though not the same races. */
  readonly seed: number
  /** The longest the service lives after a start. */
  readonly longestMs: number
  /** Gets one line for each kill. */
  readonly say?: (line: string) => void
}

/** What happened; all times in milliseconds. */
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
  /** Deliveries that were sent again though they had been answered 200. */
  readonly repeated: number
  /** Deliveries that the endpoint answered 500. */
  readonly refused: number
  /** From the last start until everything was delivered. */
  readonly drainMs: number
}

/** Runs the scenario in a data folder of its own. Rejects with everything that was lost; nothing is left behind. */
export const runCrashScenario = async ({
  longestMs,
  points,
  say,
  seed
}: CrashScenarioOptions): Promise<CrashReport> => {
  const random = randomFrom(seed)
  const data = mkdtempSync(join(tmpdir(), "parley-crash-"))
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
    const record: CrashRecord = {
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
      await work(service, record, lived)
      checkNoSecretIn(data)
      if (random() < 0.2) {
        await killWhileStarting(env, random() * 2500)
        killedWhileStarting++
      }
      service = await start()
      await checkAcknowledged(service, data, record)
      say?.(
        `point ${point}: killed after ${lived} ms; ${record.sessions.size} sessions, ${record.answered.size} answered, ` +
          `${receiver.deliveries.length} deliveries`
      )
    }
    for (const { session_id } of record.waiting) await service.api("POST", `/v1/agent/sessions/${session_id}/end`)
    const drainMs = await drained(data)
    const figures = await checkDeliveries(data, record, receiver)
    await service.stop()
    checkNoSecretIn(data)
    return {
      startsMs,
      killedWhileStarting,
      toolWrites: record.toolWrites,
      versions: record.versions,
      drainMs,
      ...figures
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
