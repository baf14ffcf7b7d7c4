import { assert, describe, it } from "@effect/vitest"
import { execFile, spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { createServer as createHttpServer } from "node:http"
import { birthOf } from "@parley/workspace/storage/ProcessProbe"
import { copyPrepared } from "@parley/workspace/testing/preparedData"
import { connect, createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach } from "vitest"

const entry = (name: string) => fileURLToPath(new URL(`../src/${name}`, import.meta.url))

const children = new Set<ChildProcess>()
const folders = new Set<string>()
afterEach(async () => {
  for (const child of children) {
    if (child.exitCode === null && child.signalCode === null && child.kill("SIGTERM")) await once(child, "exit")
  }
  children.clear()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  folders.clear()
})

const emptyFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-service-"))
  folders.add(folder)
  return folder
}

/** Without anything but a PostgreSQL that is made already. */
const freshFolder = () => {
  const folder = emptyFolder()
  copyPrepared(folder)
  return folder
}

/** The service as `npm start` runs it. */
const start = async (data: string, env: Record<string, string> = {}) => {
  const child = spawn(process.execPath, [entry("main.ts")], {
    env: { ...process.env, DATABASE_URL: "", PORT: "0", PARLEY_DATA: data, ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  children.add(child)
  let text = ""
  let complaint = ""
  child.stdout.on("data", (chunk) => (text += String(chunk)))
  child.stderr.on("data", (chunk) => (complaint += String(chunk)))
  const over = once(child, "exit")
  await Promise.race([
    over,
    new Promise<void>((resolve) => child.stdout.on("data", () => text.includes("API key") && resolve()))
  ])
  const url = /Console {2}(\S+)\//.exec(text)?.[1] ?? ""
  const key = /API key {2}(\S+)/.exec(text)?.[1] ?? ""
  const call = async (method: string, path: string, body?: unknown, bearer = key) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    return { status: response.status, body: (await response.json().catch(() => ({}))) as Record<string, unknown> }
  }
  return { child, over, url, key, call, complaint: () => complaint, said: () => text + complaint }
}

const stop = async ({ child, over }: Awaited<ReturnType<typeof start>>, signal: NodeJS.Signals) => {
  child.kill(signal)
  const [code, killer] = (await over) as [number | null, string | null]
  return code ?? killer
}

const parley = (data: string, ...args: ReadonlyArray<string>) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const env = { ...process.env, DATABASE_URL: "", PARLEY_DATA: data }
    execFile(process.execPath, [entry("command.ts"), ...args], { env }, (error, out, err) =>
      resolve({
        code: typeof error?.code === "number" ? error.code : error === null ? 0 : 1,
        out: out.trim(),
        err: err.trim()
      })
    )
  })

describe("Service", { timeout: 60_000 }, () => {
  it("makes all it needs in an empty folder, and loses nothing acknowledged to kill -9", async () => {
    const data = emptyFolder()
    const first = await start(data)
    const agent = await first.call("POST", "/v1/agent/agents", { name: "Survivor" })
    assert.strictEqual(agent.status, 201)
    await stop(first, "SIGKILL")
    const second = await start(data)
    assert.strictEqual(second.key, first.key)
    const kept = await second.call("GET", `/v1/agent/agents/${String(agent.body["agent_id"])}`)
    assert.deepStrictEqual(kept.body, agent.body)
    assert.strictEqual(await stop(second, "SIGTERM"), 0)
    assert.isFalse(existsSync(join(data, "postgres", "postmaster.pid")))
    assert.isFalse(existsSync(join(data, "lock")))
  })

  it("refuses a second service on the same folder in one line", async () => {
    const data = freshFolder()
    const first = await start(data)
    const second = await start(data)
    assert.strictEqual(((await second.over) as [number])[0], 1)
    assert.match(second.complaint(), /^parley: Another Parley service \(process \d+\) is using the data folder .+\n$/)
    assert.strictEqual((await first.call("GET", "/health")).status, 200)
    assert.strictEqual(await stop(first, "SIGINT"), 0)
  })

  it("says in one line what keeps it from starting", async () => {
    const busy = createServer().listen(0, "127.0.0.1")
    await once(busy, "listening")
    const { port } = busy.address() as AddressInfo
    const cases: ReadonlyArray<readonly [env: Record<string, string>, line: RegExp]> = [
      [{ PORT: "http" }, /^parley: PORT must be a whole number from 0 to 65535\n$/],
      [{ PARLEY_LLM: "openai" }, /^parley: PARLEY_LLM names openai, which needs PARLEY_LLM_BASE_URL\n$/],
      [{ PORT: String(port) }, /^parley: Cannot listen on 127\.0\.0\.1:\d+: the port is in use; .+\n$/],
      [{ DATABASE_URL: `postgres://u:hidden@127.0.0.1:${port}/x` }, /^parley: Cannot use DATABASE_URL: .+\n$/],
      [{ PARLEY_DATA: join(entry("main.ts"), "data") }, /^parley: PARLEY_DATA: cannot make the folder .+\n$/]
    ]
    busy.on("connection", (socket) => socket.destroy())
    for (const [env, line] of cases) {
      const refused = await start(freshFolder(), env)
      assert.strictEqual(((await refused.over) as [number])[0], 1)
      assert.match(refused.complaint(), line)
      assert.notInclude(refused.complaint(), "hidden")
    }
    busy.close()
  })

  it("does not open secrets with another key", async () => {
    const data = freshFolder()
    await stop(await start(data, { PARLEY_SECRET_KEY: "a first key of enough length".replaceAll(" ", "-") }), "SIGTERM")
    const refused = await start(data, { PARLEY_SECRET_KEY: "another-key-of-enough-length" })
    assert.match(refused.complaint(), /^parley: The secrets in the database were sealed with another key; .+\n$/)
  })

  it("manages keys beside a running service and without one", async () => {
    const data = freshFolder()
    const service = await start(data)
    assert.strictEqual(statSync(join(data, "first-key")).mode & 0o777, 0o600)
    const made = await parley(data, "keys", "create", "--workspace", "shop")
    const [id = "", key = ""] = made.out.split(/\s+/)
    assert.match(key, /^pk_/)
    assert.strictEqual((await service.call("GET", "/v1/agent/agents", undefined, key)).status, 200)
    const mine = await service.call("POST", "/v1/agent/agents", { name: "Mine" })
    const path = `/v1/agent/agents/${String(mine.body["agent_id"])}`
    assert.strictEqual((await service.call("GET", path, undefined, key)).status, 404)
    assert.include((await parley(data, "keys", "list")).out, "shop")
    assert.strictEqual((await parley(data, "keys", "revoke", id)).code, 0)
    assert.strictEqual((await service.call("GET", "/v1/agent/agents", undefined, key)).status, 401)
    assert.strictEqual(await stop(service, "SIGTERM"), 0)
    const listed = await parley(data, "keys", "list")
    assert.notInclude(listed.out, id)
    assert.notInclude(listed.out, service.key)
    const first = listed.out.split(/\s+/)[0] ?? ""
    assert.strictEqual((await parley(data, "keys", "revoke", first)).code, 0)
    assert.strictEqual((await parley(data, "keys", "revoke", first)).code, 1)
    assert.strictEqual((await parley(data, "keys")).code, 1)
    const again = await start(data)
    assert.strictEqual(again.key, "make")
    assert.isFalse(existsSync(join(data, "first-key")))
    assert.notInclude(readFileSync(join(data, "postgres.log"), "utf8"), "pk_")
  })

  it("takes the given key instead of making one", async () => {
    const data = freshFolder()
    const [given, another] = ["given-key", "other-key"].map((name) => `${name}-of-thirty-two-characters`)
    const service = await start(data, { PARLEY_API_KEY: given ?? "" })
    const statusOf = async ({ call }: typeof service, key = "") =>
      (await call("GET", "/v1/agent/agents", undefined, key)).status
    assert.strictEqual(await statusOf(service, given), 200)
    assert.isFalse(existsSync(join(data, "first-key")))
    await stop(service, "SIGTERM")
    const other = await start(data, { PARLEY_API_KEY: another ?? "" })
    assert.deepStrictEqual([await statusOf(other, given), await statusOf(other, another)], [401, 200])
    const id = /(key_\w+) +PARLEY_API_KEY/.exec((await parley(data, "keys", "list")).out)?.[1] ?? ""
    assert.strictEqual((await parley(data, "keys", "revoke", id)).code, 0)
    await stop(other, "SIGTERM")
    const again = await start(data, { PARLEY_API_KEY: another ?? "" })
    assert.strictEqual(await statusOf(again, another), 401)
    assert.include(again.said(), "PARLEY_API_KEY holds a key that was revoked")
  })

  it("exports traces and metrics to a collector, without keys or numbers", async () => {
    const received = new Map<string, string>()
    const collector = createHttpServer((request, response) => {
      let text = ""
      request.on("data", (chunk) => (text += String(chunk)))
      request.on("end", () => {
        received.set(request.url ?? "", (received.get(request.url ?? "") ?? "") + text)
        response.end("{}")
      })
    }).listen(0, "127.0.0.1")
    await once(collector, "listening")
    const data = freshFolder()
    const service = await start(data, {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_BSP_SCHEDULE_DELAY: "100",
      OTEL_METRIC_EXPORT_INTERVAL: "100"
    })
    const trace = "0af7651916cd43dd8448eb211c80319c"
    await fetch(`${service.url}/v1/agent/sessions?caller_number=%2B15551234567`, {
      headers: { authorization: `Bearer ${service.key}`, traceparent: `00-${trace}-b7ad6b7169203331-01` }
    })
    const isComplete = () =>
      received.get("/v1/traces")?.includes(trace) && received.get("/v1/metrics")?.includes("parley_http_requests_total")
    for (let tries = 0; tries < 100 && !isComplete(); tries++) await new Promise((resolve) => setTimeout(resolve, 50))
    const all = [...received.values()].join("")
    assert.include(received.get("/v1/traces"), trace)
    assert.include(received.get("/v1/metrics"), "parley_http_requests_total")
    assert.notInclude(all, "5551234567")
    assert.notInclude(all, service.key)
    await stop(service, "SIGTERM")
    collector.close()
  })

  it("goes at once on a second signal, and takes its database with it", async () => {
    const data = freshFolder()
    const service = await start(data)
    const pid = Number(readFileSync(join(data, "postgres", "postmaster.pid"), "utf8").split("\n")[0])
    const stuck = connect(Number(new URL(service.url).port), "127.0.0.1", () => stuck.write("GET /health HTTP/1.1\r\n"))
    stuck.on("error", () => undefined)
    await service.call("GET", "/health")
    service.child.kill("SIGTERM")
    await new Promise((resolve) => setTimeout(resolve, 700))
    assert.isNull(service.child.exitCode)
    assert.strictEqual(await stop(service, "SIGTERM"), 130)
    for (let tries = 0; tries < 100 && birthOf(pid) !== undefined; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    assert.isUndefined(birthOf(pid))
  })
})
