// What management requests cost the server: CPU per request of four routes, beside the same routes written on fastify
// and pg against the same database. Rounds of both alternate, eight requests at a time over connections that are kept.
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { Agent, request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { percentile, report } from "./report.ts"

const rounds = Number(process.env["ROUNDS"] ?? 7)
const perRound = Number(process.env["PER_ROUND"] ?? 1000)
const atOnce = 8
const agentsMade = 40

interface Server {
  readonly name: "parley" | "fastify"
  readonly url: string
  readonly child: ChildProcess
}

interface Route {
  readonly name: string
  readonly method: string
  readonly status: number
  /** For the n-th request of all. */
  readonly path: (n: number) => string
  readonly body?: (n: number) => unknown
}

const scripts = new URL("../scripts/testPeers.mjs", import.meta.url).href
const { installBenchPeers } = (await import(scripts)) as { readonly installBenchPeers: () => boolean }
if (!installBenchPeers()) process.exit(1)
const data = mkdtempSync(join(tmpdir(), "parley-bench-"))
const keptConnections = new Agent({ keepAlive: true, maxSockets: atOnce })

const service = fork(join(import.meta.dirname, "managementService.ts"), [data], {
  execArgv: process.env["PROFILE"] === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${process.env["PROFILE"]}`]
})
const [hello] = (await once(service, "message")) as [{ url: string; key: string; databaseUrl: string }]

const ask = (url: string, method: string, body?: unknown): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const payload = body === undefined ? undefined : JSON.stringify(body)
    const headers: Record<string, string | number> = { authorization: `Bearer ${hello.key}` }
    if (payload !== undefined) {
      headers["content-type"] = "application/json"
      headers["content-length"] = Buffer.byteLength(payload)
    }
    const sent = request(url, { method, agent: keptConnections, headers }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (piece: string) => (text += piece))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on("error", reject).end(payload)
  })

const given = async <A>(path: string, method: string, body?: unknown): Promise<A> => {
  const { status, text } = await ask(hello.url + path, method, body)
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
  return JSON.parse(text) as A
}

const agents: Array<string> = []
for (let n = 0; n < agentsMade; n++) {
  const { agent_id } = await given<{ agent_id: string }>("/v1/agent/agents", "POST", { name: `Agent ${n}` })
  await given(`/v1/agent/agents/${agent_id}/publish`, "POST", {})
  agents.push(agent_id)
}
const first = agents[0] ?? ""
const samples = {
  agent: await given(`/v1/agent/agents/${first}`, "GET"),
  agents: await given("/v1/agent/agents", "GET"),
  ticket: await given("/v1/agent/sessions", "POST", { agent_id: first }),
  config: await given(`/v1/agent/agents/${first}/config`, "GET")
}
const peer = fork(join(import.meta.dirname, "peers", "fastifyServer.mjs"), [
  JSON.stringify({ databaseUrl: hello.databaseUrl, samples })
])
const [{ url: peerUrl }] = (await once(peer, "message")) as [{ url: string }]
const servers: ReadonlyArray<Server> = [
  { name: "parley", url: hello.url, child: service },
  { name: "fastify", url: peerUrl, child: peer }
]

const oneOf = (n: number): string => agents[n % agents.length] ?? ""
const routes: ReadonlyArray<Route> = [
  { name: "get agent", method: "GET", status: 200, path: (n) => `/v1/agent/agents/${oneOf(n)}` },
  { name: "list agents", method: "GET", status: 200, path: () => "/v1/agent/agents" },
  {
    name: "create session",
    method: "POST",
    status: 201,
    path: () => "/v1/agent/sessions",
    body: (n) => ({ agent_id: oneOf(n), end_user_id: `user ${n}`, metadata: { order: n } })
  },
  {
    name: "patch config",
    method: "PATCH",
    status: 200,
    path: (n) => `/v1/agent/agents/${oneOf(n)}/config`,
    body: (n) => ({ prompt: { system_prompt: `You are receptionist ${n}. ${"Be brief. ".repeat(100)}` } })
  }
]

const cpuOf = async ({ child }: Server): Promise<number> => {
  child.send({})
  const [{ cpu }] = (await once(child, "message")) as [{ cpu: { user: number; system: number } }]
  return cpu.user + cpu.system
}

let asked = 0
/** Microseconds of CPU for each request. */
const measure = async (server: Server, route: Route, count: number): Promise<number> => {
  const before = await cpuOf(server)
  let left = count
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      const n = asked++
      const answer = await ask(server.url + route.path(n), route.method, route.body?.(n))
      if (answer.status !== route.status)
        throw new Error(`${server.name} ${route.name}: ${answer.status} ${answer.text}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, client))
  return ((await cpuOf(server)) - before) / count
}

const shape = (value: unknown): unknown =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? Object.keys(value).sort() : typeof value

const sample = async (name: Server["name"], route: Route) => {
  const server = servers.find((one) => one.name === name)
  return ask(server?.url + route.path(0), route.method, route.body?.(name.length))
}

/** The peer answers what the service answers. */
const sameShape = async (): Promise<void> => {
  for (const route of routes) {
    const [ours, theirs] = [await sample("parley", route), await sample("fastify", route)]
    const keys = [ours, theirs].map((answer) => JSON.stringify(shape(JSON.parse(answer?.text ?? ""))))
    if (ours?.status !== theirs?.status || keys[0] !== keys[1]) {
      throw new Error(`${route.name}: ${ours?.status} ${keys[0]} and ${theirs?.status} ${keys[1]}`)
    }
  }
}

try {
  await sameShape()
  const rows: Array<{ route: string; server: string; round: number; cpuUs: number }> = []
  for (const route of routes) {
    for (const server of servers) await measure(server, route, perRound)
    for (let round = 0; round < rounds; round++) {
      for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
        rows.push({ route: route.name, server: server.name, round, cpuUs: await measure(server, route, perRound) })
      }
    }
  }
  const values = (route: string, server: string) =>
    rows.filter((row) => row.route === route && row.server === server).map(({ cpuUs }) => cpuUs)
  report(
    "management",
    routes.flatMap(({ name }) =>
      servers.map((server) => ({ what: `${name}, ${server.name}`, unit: "us CPU", values: values(name, server.name) }))
    ),
    rows
  )
  for (const { name } of routes) {
    const ratio = percentile(values(name, "parley"), 50) / percentile(values(name, "fastify"), 50)
    console.log(`${name}: ${ratio.toFixed(2)} times the peer's CPU   target: <= 1.5`)
  }
} finally {
  keptConnections.destroy()
  // The database goes with the service.
  for (const { child } of servers.toReversed()) {
    child.disconnect()
    await once(child, "exit")
  }
  rmSync(data, { recursive: true, force: true })
}
