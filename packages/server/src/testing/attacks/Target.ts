// The service that is attacked, and what is seen of it meanwhile: whether others wait, what it holds in memory, whether it lives.
import { createServer } from "node:net"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import type { AddressInfo } from "node:net"
import { Worker } from "node:worker_threads"
import { type RunningService, startService } from "../RunningService.ts"

/** A running service with a public agent and a telephone number that this machine may call. */
export interface Target {
  readonly service: RunningService
  readonly sipPort: number
  readonly number: string
  readonly agentId: string
  /** Carries an attack out and tells what others noticed. */
  readonly watch: (attack: () => Promise<void>) => Promise<Watched>
}

/** What an attack did to others. */
export interface Watched {
  /** Longest answer of /health meanwhile, in milliseconds. */
  readonly longestMs: number
  /** Growth of the resident memory at its highest, in MiB. */
  readonly grownMiB: number
}

/** What came of an attack: a figure, and what is wrong with it. */
export interface Outcome {
  readonly figure: string
  readonly faults: ReadonlyArray<string>
}

/** One way to do harm. `strength`: 1 for a short form. */
export interface Attack {
  readonly name: string
  readonly run: (target: Target, strength: number) => Promise<Outcome>
}

/**
 * What others may wait for an answer during an attack: 100 ms are asked on a machine with nothing else to do; the short form runs
 * beside other tests, and finds only what stalls everybody for seconds.
 */
export const isStall = (longestMs: number, strength: number): boolean => longestMs > (strength === 1 ? 1_500 : 300)

const origin = "https://shop.example"

/** The page of the target's public agent. */
export const visitorHeaders = { "content-type": "application/json", origin }

export const openTarget = async (): Promise<Target> => {
  const sipPort = await freePort()
  const service = await startService({
    PARLEY_SIP_PORT: String(sipPort),
    PARLEY_ALLOW_PRIVATE_NETWORKS: "127.0.0.0/8",
    PARLEY_TRUSTED_PROXIES: "127.0.0.1",
    PARLEY_MAX_CALLS: "4",
    PARLEY_TRIAL_BALANCE: "100000",
    PARLEY_ASR: "pocketsphinx"
  })
  const agentId = await service.agent({ prompt: { first_message_mode: "off" } })
  await service.api("PATCH", `/v1/agent/agents/${agentId}`, { public_enabled: true, allowed_origins: [origin] })
  const number = "+14155550123"
  await service.api("POST", "/v1/agent/phone-numbers", {
    provider: "sip",
    phone_number: number,
    agent_id: agentId,
    inbound_allowed_addresses: ["127.0.0.0/8"],
    termination_uri: "127.0.0.1:9",
    termination_transport: "udp"
  })
  return { service, sipPort, number, agentId, watch: watchOver(service) }
}

const watchOver =
  (service: RunningService): Target["watch"] =>
  async (attack) => {
    const watcher = new Worker(new URL("./watcher.ts", import.meta.url), { workerData: `${service.url}/health` })
    await once(watcher, "online")
    const before = residentMiB(service)
    let highest = before
    const timer = setInterval(() => (highest = Math.max(highest, residentMiB(service))), 20)
    try {
      await attack()
    } finally {
      clearInterval(timer)
      watcher.postMessage("over")
    }
    const [longestMs] = (await once(watcher, "message")) as [number]
    return { longestMs: Math.round(longestMs), grownMiB: Math.round(highest - before) }
  }

const residentMiB = ({ process: { pid } }: RunningService): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}

export const pause = (ms: number): Promise<void> => new Promise((later) => setTimeout(later, ms))
