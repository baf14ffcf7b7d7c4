// The service as `npm start` runs it, in a process of its own with a data folder of its own: for tests that
// use it from outside, and for benches.
import { copyPrepared } from "@parley/workspace/testing/preparedData"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export interface RunningService {
  readonly url: string
  readonly key: string
  readonly process: ChildProcess
  readonly data: string
  /** What it wrote to its log. */
  readonly log: () => string
  /** A request with the key; throws on anything but 2xx. */
  readonly api: <A = Record<string, unknown>>(method: string, path: string, body?: unknown) => Promise<A>
  /** A published agent with this configuration. */
  readonly agent: (config: Record<string, unknown>) => Promise<string>
  readonly stop: () => Promise<void>
  /** kill -9; the data folder stays. */
  readonly kill: () => Promise<void>
}

const main = fileURLToPath(new URL("../main.ts", import.meta.url))

/** `PARLEY_DATA` in `env` names a folder that is kept. Within vitest the PostgreSQL of a new folder is made already. */
export const startService = async (env: Record<string, string> = {}): Promise<RunningService> => {
  const kept = env["PARLEY_DATA"]
  const data = kept ?? mkdtempSync(join(tmpdir(), "parley-running-"))
  if ((env["DATABASE_URL"] ?? "") === "") copyPrepared(data)
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, DATABASE_URL: "", PORT: "0", PARLEY_SIP_PORT: "off", PARLEY_DATA: data, ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let text = ""
  const exit = once(child, "exit")
  await new Promise<void>((ready, failed) => {
    const read = (chunk: Buffer): void => {
      text += chunk.toString()
      if (/API key {2}\S+/.test(text)) ready()
    }
    child.stdout.on("data", read)
    child.stderr.on("data", read)
    void exit.then(() => failed(new Error(`the service did not start: ${text}`)))
  })
  const url = /Console {2}(\S+)\//.exec(text)?.[1] ?? ""
  const key = env["PARLEY_API_KEY"] ?? /API key {2}(\S+)/.exec(text)?.[1] ?? ""
  const api = async <A>(method: string, path: string, body?: unknown): Promise<A> => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const answer = response.status === 204 ? {} : await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer as A
  }
  return {
    url,
    key,
    process: child,
    data,
    log: () => text,
    api,
    agent: async (config) => {
      const { agent_id } = await api<{ agent_id: string }>("POST", "/v1/agent/agents", { name: "Desk", config })
      await api("POST", `/v1/agent/agents/${agent_id}/publish`)
      return agent_id
    },
    stop: async () => {
      child.kill("SIGTERM")
      await exit
      if (kept === undefined) rmSync(data, { recursive: true, force: true })
    },
    kill: async () => {
      child.kill("SIGKILL")
      await exit
    }
  }
}
