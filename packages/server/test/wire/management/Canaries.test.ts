// A day at the service with a canary in the place of every secret: then the canaries are looked for in all it wrote,
// exported, answered and stored. What a call was about may be in its record, nowhere else; a credential may be nowhere.
import * as FakeChat from "@parley/llm/testing/FakeChatServer"
import { askDatabase } from "@parley/workspace/testing/askDatabase"
import { Effect, Exit, Scope } from "effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createServer, type IncomingHttpHeaders, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { joinCall, until } from "../../../src/testing/RtcCaller.ts"
import { type RunningService, startService } from "../../../src/testing/RunningService.ts"
import { operate, spoken } from "../speech/SpeechClient.ts"

/** Never where anything can read it but the process that needs it. */
const credentials = {
  apiKey: "canary-api-key-Ahphoo7ohmaeGh8eQu",
  secretKey: "canary-secret-key-oowo6Iechee0Shah",
  toolCustom: "canary-tool-custom-Zei3ohgheeb7ohfo",
  toolBearer: "canary-tool-bearer-eiQuah4ahj9yohch",
  toolBasic: "canary-tool-basic-ieTh1aeFee2aefah",
  mcpSecret: "canary-mcp-secret-Ahd6aeshiey3Xoo9",
  hookSecret: "canary-hook-secret-ohbe9UTh5aeGhoh4",
  newHookSecret: "canary-new-hook-secret-Ieg6ohph5ahRoh",
  initSecret: "canary-init-secret-quooV6eThai0aequ",
  modelKey: "canary-model-key-phoh8Aip3aiwooXa",
  sipInbound: "canary-sip-inbound-ooGh4Eij9Ieshoo",
  sipTermination: "canary-sip-out-Raiyu0ahGie3Chei",
  ttsKey: "canary-tts-key-Aw7ohgh3ooGhoo6t",
  asrKey: "canary-asr-key-ahQu5eipieth9Ohw",
  llmKey: "canary-llm-key-Eeph3aghah1ooYei",
  extraBody: "canary-extra-body-thahK7aedahng0so",
  wrongKey: "canary-wrong-key-xoo8ieYohshae4ai"
}

/** Part of what calls are about: in their records, not in logs, spans, metrics and errors. */
const matters = {
  phone: "15558675309",
  callee: "442079460987",
  said: "xylophonist",
  answered: "bandersnatch",
  prompt: "jabberwocky",
  path: "distinctive-customer-path",
  toolArgument: "snark-hunting",
  endUser: "end-user-gryphon",
  metadata: "metadata-mockturtle",
  document: "document-cheshire"
}

interface Heard {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Keeps all it hears, and answers as told. */
const listen = async (answer: (heard: Heard) => readonly [status: number, body: string]) => {
  const heard: Array<Heard> = []
  const server: Server = createServer((request, response) => {
    const pieces: Array<Buffer> = []
    request.on("data", (piece: Buffer) => void pieces.push(piece))
    request.on("end", () => {
      const one = { path: request.url ?? "", headers: request.headers, text: Buffer.concat(pieces).toString() }
      heard.push(one)
      const [status, body] = answer(one)
      response.writeHead(status, { "content-type": "application/json" }).end(body)
    })
  })
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard, close: () => server.close() }
}

const scope = Effect.runSync(Scope.make())
const data = mkdtempSync(join(tmpdir(), "parley-canaries-"))
const bodies: Array<{ readonly what: string; readonly status: number; readonly text: string }> = []
const tokens: Array<string> = []
let service: RunningService
let collector: Awaited<ReturnType<typeof listen>>
let customer: Awaited<ReturnType<typeof listen>>
let provider: Awaited<ReturnType<typeof listen>>
let chat: FakeChat.FakeChatServer
let otherKey = ""

/** Any request; its answer is kept for the search. */
const ask = async (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) => {
  const raw = typeof body === "string" || body instanceof FormData ? body : JSON.stringify(body)
  const response = await fetch(service.url + path, {
    method,
    headers: {
      authorization: `Bearer ${credentials.apiKey}`,
      ...(body instanceof FormData ? {} : { "content-type": "application/json" }),
      ...headers
    },
    ...(body === undefined ? {} : { body: raw })
  })
  const text = Buffer.from(await response.arrayBuffer()).toString("latin1")
  bodies.push({ what: `${method} ${path}`, status: response.status, text })
  return { status: response.status, text, json: () => JSON.parse(text) as Record<string, string> }
}

beforeAll(async () => {
  collector = await listen(() => [200, "{}"])
  customer = await listen(({ path }) =>
    path.includes("broken") ? [500, `{"echo": "${matters.path}"}`] : [200, `{"booked": true}`]
  )
  // As real ones do, it repeats the key it refuses.
  provider = await listen(({ headers }) => [401, `{"error": {"message": "Incorrect key ${headers.authorization}"}}`])
  chat = await Effect.runPromise(
    Scope.provide(
      FakeChat.make((index) =>
        index === 0
          ? { kind: "tool", name: "book", arguments: JSON.stringify({ what: matters.toolArgument }) }
          : index === 1
            ? { kind: "say", text: `Your ${matters.answered} is booked, and you may come tomorrow.` }
            : { kind: "say", text: `{"summary": "About the ${matters.answered}."}` }
      ),
      scope
    )
  )
  service = await startService({
    PARLEY_DATA: data,
    PARLEY_API_KEY: credentials.apiKey,
    PARLEY_SECRET_KEY: credentials.secretKey,
    PARLEY_ALLOW_PRIVATE_NETWORKS: "127.0.0.0/8",
    PARLEY_TTS: "openai,flite",
    PARLEY_TTS_BASE_URL: `${provider.url}/v1`,
    PARLEY_TTS_API_KEY: credentials.ttsKey,
    PARLEY_ASR: "openai,pocketsphinx",
    PARLEY_ASR_BASE_URL: `${provider.url}/v1`,
    PARLEY_ASR_API_KEY: credentials.asrKey,
    PARLEY_LLM: "openai,demo",
    PARLEY_LLM_BASE_URL: `${provider.url}/v1`,
    PARLEY_LLM_API_KEY: credentials.llmKey,
    PARLEY_SIP_PORT: "0",
    PARLEY_LOG_LEVEL: "debug",
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_BSP_SCHEDULE_DELAY: "200",
    OTEL_BLRP_SCHEDULE_DELAY: "200",
    OTEL_METRIC_EXPORT_INTERVAL: "500"
  })
})

afterAll(async () => {
  await service.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  for (const { close } of [collector, customer, provider]) close()
  rmSync(data, { recursive: true, force: true })
})

const agents = "/v1/agent/agents"

const makeTool = async () => {
  const tool = {
    tool_type: "webhook",
    name: "Book",
    url: `${customer.url}/${matters.path}/book`,
    description: "Books.",
    arguments: [{ name: "what", description: "What to book" }],
    body_template: '{"what": "{{what}}"}',
    headers: [
      { kind: "custom", name: "X-Customer", value: credentials.toolCustom },
      { kind: "authorization_bearer", value: credentials.toolBearer }
    ]
  }
  const made = (await ask("POST", "/v1/agent/tools", tool)).json()["tool_id"] ?? ""
  const basic = { ...tool, name: "Ask", headers: [{ kind: "authorization_basic", value: credentials.toolBasic }] }
  const other = (await ask("POST", "/v1/agent/tools", basic)).json()["tool_id"] ?? ""
  const broken = { ...tool, name: "Break", url: `${customer.url}/${matters.path}/broken` }
  const third = (await ask("POST", "/v1/agent/tools", broken)).json()["tool_id"] ?? ""
  for (const id of [made, other, third]) await ask("POST", `/v1/agent/tools/${id}/test`, { arguments: { what: "x" } })
  return [made, other, third]
}

/** At a place that is no MCP server. */
const makeMcpServer = async () => {
  const headers = [{ kind: "authorization_bearer", value: credentials.mcpSecret }]
  const url = `${customer.url}/${matters.path}/broken-mcp`
  const made = (await ask("POST", "/v1/agent/mcp-servers", { name: "Records", url, headers })).json()["mcp_server_id"]
  await ask("GET", `/v1/agent/mcp-servers/${made}/tools`)
  return made
}

const makeAgent = async () => {
  const form = new FormData()
  form.append("source", new File([`A ticket of the ${matters.document} costs 14 euros.`], "house.md"))
  const source = (await ask("POST", "/v1/agent/knowledge-sources", form)).json()["knowledge_source_id"]
  const hook = (name: string, secret: string) => ({ url: `${customer.url}/${matters.path}/${name}`, secret })
  const config = {
    prompt: { system_prompt: `You are a ${matters.prompt}.`, first_message_mode: "off" },
    tools: { enabled: true, tool_ids: await makeTool(), mcp_server_ids: [await makeMcpServer()] },
    knowledge_base: { knowledge_source_ids: [source] },
    llm: { custom: { base_url: `${chat.baseUrl}`, model: "m", api_key: credentials.modelKey } },
    webhooks: {
      conversation_init: hook("init", credentials.initSecret),
      post_call: [hook("hook", credentials.hookSecret), hook("broken-hook", credentials.hookSecret)]
    }
  }
  const tools = config.tools
  const id =
    (
      await ask("POST", agents, { name: "Desk", config: { ...config, tools: { ...tools, mcp_server_ids: [] } } })
    ).json()["agent_id"] ?? ""
  await ask("POST", `${agents}/${id}/publish`)
  // With a server that never listed its tools nothing is published: what that tells is looked at, too.
  await ask("PATCH", `${agents}/${id}/config`, { tools })
  await ask("POST", `${agents}/${id}/publish`)
  await ask("PATCH", `${agents}/${id}/config`, { tools: { ...tools, mcp_server_ids: [] } })
  return id
}

const holdCall = async (agent_id: string): Promise<string> => {
  const opened = await service.api<{ session_id: string; rtc_url: string; token: string }>(
    "POST",
    "/v1/agent/sessions",
    {
      agent_id,
      end_user_id: matters.endUser,
      metadata: { note: matters.metadata },
      dynamic_variables: { number: `+${matters.phone}` },
      llm_extra_body: { routing: credentials.extraBody }
    }
  )
  tokens.push(opened.token)
  const caller = await joinCall(opened)
  await until("the agent listens", () => caller.state() === "listening")
  await caller.send({ type: "user.message", text: `I am a ${matters.said}, call me at +${matters.phone}` })
  await until("an answer", () => caller.heard.length > 60, 40_000)
  await caller.leave()
  const path = `/v1/agent/sessions/${opened.session_id}`
  await expect
    .poll(async () => (await ask("GET", path)).json()["analysis"], { timeout: 40_000, interval: 500 })
    .not.toBeNull()
  return path
}

/** A number whose carrier is not there, and a call over it that comes to nothing. */
const useTelephone = async (agent_id: string): Promise<void> => {
  const trunk = {
    inbound_auth_username: "in",
    inbound_auth_password: credentials.sipInbound,
    termination_uri: "127.0.0.1:9",
    termination_transport: "tcp",
    termination_auth_username: "out",
    termination_auth_password: credentials.sipTermination
  }
  const number = { provider: "sip", phone_number: `+${matters.phone}`, agent_id, ...trunk }
  const id = (await ask("POST", "/v1/agent/phone-numbers", number)).json()["phone_number_id"] ?? ""
  const path = `/v1/agent/phone-numbers/${id}`
  expect((await ask("PUT", `${path}/sip-config`, { ...trunk, inbound_auth_password: "" })).status).toBe(200)
  expect((await ask("POST", "/v1/agent/phone-numbers", number)).status).toBe(409)
  const call = { agent_id, phone_number_id: id, to_number: `+${matters.callee}` }
  const placed = await ask("POST", "/v1/agent/phone-calls", call, { "idempotency-key": "once" })
  expect(placed.status).toBe(201)
  await ask("POST", "/v1/agent/phone-calls", { ...call, metadata: {} }, { "idempotency-key": "once" })
  await ask("POST", "/v1/agent/phone-calls", { ...call, to_number: number.phone_number })
  await ask("POST", "/v1/agent/phone-calls", { ...call, to_number: `${matters.callee} ${credentials.sipInbound}` })
  const session = `/v1/agent/sessions/${placed.json()["session_id"]}`
  await expect
    .poll(async () => (await ask("GET", session)).json()["status"], { timeout: 40_000, interval: 500 })
    .toBe("failed")
  expect((await ask("GET", path)).status).toBe(200)
  expect((await ask("GET", `${session}/sip-trace`)).status).toBe(200)
}

/** What people get wrong, with canaries where they do. */
const blunder = async (agent: string, session: string) => {
  const secretive = { ...credentials, ...matters }
  const wrong = { authorization: `Bearer ${credentials.wrongKey}` }
  await ask("GET", agents, undefined, wrong)
  await ask("GET", `${agents}/${matters.path}`)
  await ask("GET", `/v1/agent/sessions?caller_number=%2B${matters.phone}&page_size=${matters.phone}`)
  await ask("GET", `/v1/agent/sessions?caller_number=%2B${matters.phone}%00`)
  await ask("GET", `/v1/agent/tools?search=${matters.said}%00`)
  await ask("GET", `/v1/agent/sessions/${matters.path}%00`)
  await ask("GET", `/${matters.path}/${credentials.wrongKey}`)
  await ask("POST", agents, `{"name": "${credentials.toolBearer}`)
  for (const value of Object.values(secretive)) {
    await ask("POST", agents, { name: value.repeat(20) })
    await ask("PATCH", `${agents}/${agent}/config`, { prompt: { first_message_mode: value } })
    await ask("PATCH", `${agents}/${agent}/config`, {
      llm: { custom: { base_url: `http://${value}.example`, api_key: value } },
      webhooks: { post_call: [{ url: `ftp://${value}@example.com/${value}`, secret: value.repeat(40) }] }
    })
    await ask("POST", "/v1/agent/tools", { tool_type: "webhook", name: "x", url: value, headers: [{ kind: value }] })
    await ask("POST", "/v1/agent/sessions", { agent_id: value, metadata: value, timezone: value })
  }
  await ask("PATCH", `${agents}/${agent}/config`, { prompt: { system_prompt: `\u0000${matters.prompt}\ud800` } })
  await ask("POST", `${session}/analysis`)
  await ask("POST", "/v1/tts", { text: `A ${matters.said} called.` })
  await ask("POST", "/v1/tts", { text: "x", reference_id: credentials.toolCustom })
  const upload = new FormData()
  upload.append("audio", new File([matters.said], `${matters.said}.wav`))
  await ask("POST", "/v1/asr", upload)
  const speech = new FormData()
  speech.append("audio", new File([await spoken(service, `I am a ${matters.said}.`)], "speech.wav"))
  await ask("POST", "/v1/asr", speech)
  await ask("POST", "/v1/agent/sessions", { agent_id: agent }, { authorization: "", origin: `https://${matters.path}` })
}

const rotate = async (agent: string) => {
  const url = `${customer.url}/${matters.path}/hook`
  await ask("PATCH", `${agents}/${agent}/config`, {
    webhooks: { post_call: [{ url, secret: credentials.newHookSecret }] }
  })
  await ask("POST", `${agents}/${agent}/publish`)
}

const reads = async (agent: string, session: string) => {
  const paths = [
    ...["", "/config", "/versions", "/versions/1"].map((path) => `${agents}/${agent}${path}`),
    ...["", "/journal", "/webhook-deliveries"].map((path) => session + path),
    "/v1/agent/tools",
    "/v1/agent/mcp-servers",
    "/v1/agent/sessions",
    "/v1/agent/phone-numbers",
    "/v1/agent/knowledge-sources",
    "/wallet/self/api-credit",
    "/health",
    "/openapi.json"
  ]
  for (const path of paths) expect((await ask("GET", path)).status, path).toBe(200)
}

/** A text as it could lie about: plain, and as the usual encodings of bytes. */
const guises = (text: string): ReadonlyArray<string> => {
  const bytes = Buffer.from(text)
  // Base64 in the middle of more depends on the offset: the part that is the same in each is looked for.
  const shifted = [0, 1, 2].map((pad) =>
    Buffer.concat([Buffer.alloc(pad), bytes])
      .toString("base64")
      .replace(/=+$/, "")
      .slice(4, -4)
  )
  return [text, bytes.toString("hex"), Buffer.from(text, "utf16le").toString("latin1"), ...shifted].map((one) =>
    one.toLowerCase()
  )
}

const found = (place: string, secrets: Readonly<Record<string, string>>, text: string): ReadonlyArray<string> => {
  const low = text.toLowerCase()
  return Object.entries(secrets).flatMap(([name, secret]) =>
    guises(secret).some((guise) => low.includes(guise)) ? [`${name} in ${place}`] : []
  )
}

const filesOf = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : []
  )

const dump = async (): Promise<ReadonlyArray<readonly [table: string, text: string]>> => {
  const tables = await askDatabase(
    data,
    "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
  )
  const dumped: Array<readonly [string, string]> = []
  for (const { table_name } of tables) {
    const rows = await askDatabase(data, `SELECT t::text AS line FROM "${String(table_name)}" t`)
    dumped.push([String(table_name), rows.map(({ line }) => String(line)).join("\n")])
  }
  return dumped
}

describe("canaries", { timeout: 120_000 }, () => {
  it("are in no log, span, metric, error, answer, table or file", async () => {
    otherKey = (await operate(service, "keys", "create", "--workspace", "canary")).split(/\s+/)[1] ?? ""
    const agent = await makeAgent()
    const session = await holdCall(agent)
    await useTelephone(agent)
    await rotate(agent)
    await ask("GET", agents, undefined, { authorization: `Bearer ${otherKey}` })
    await reads(agent, session)
    await blunder(agent, session)
    const delivered = () => customer.heard.filter(({ path }) => path.endsWith("/hook")).length
    await expect.poll(delivered, { timeout: 30_000 }).toBeGreaterThanOrEqual(2)

    // The canaries sang where they should: each credential was used by who needs it.
    const outside = JSON.stringify([customer.heard, provider.heard, chat.requests])
    for (const name of [
      "toolCustom",
      "toolBearer",
      "toolBasic",
      "mcpSecret",
      "modelKey",
      "ttsKey",
      "asrKey",
      "extraBody"
    ] as const) {
      expect(found("outside", { [name]: credentials[name] }, outside), name).toEqual([`${name} in outside`])
    }
    const conversation = chat.requests.map(({ body }) => JSON.stringify(body)).join("\n")
    for (const name of ["said", "prompt", "toolArgument", "document", "phone"] as const) {
      expect(conversation, name).toContain(matters[name])
    }

    const everything: Record<string, string> = { ...credentials, otherKey, token: tokens[0] ?? "", ...matters }
    const secret: Record<string, string> = { ...credentials, otherKey, token: tokens[0] ?? "" }
    const after = collector.heard.length
    const metrics = () => collector.heard.slice(after).some(({ path }) => path === "/v1/metrics")
    await expect.poll(metrics, { timeout: 30_000 }).toBe(true)
    const exported = collector.heard.map(({ text }) => text).join("\n")
    for (const there of ["edge.request", "parley_http_requests", "scopeLogs"]) expect(exported).toContain(there)
    const scraped = await (await fetch(`${service.url}/metrics`)).text()
    expect(scraped).toContain("parley_sessions_ended_total")
    const logged = service.log().replace(/API key {2}\S+/, "")
    expect(logged).toContain("Parley is ready.")

    const errors = bodies.filter(({ status }) => status >= 400)
    expect(errors.length).toBeGreaterThan(90)
    const tables = await dump()
    const stored = tables.map(([, text]) => text).join("\n")
    for (const name of ["said", "answered", "endUser", "path", "phone", "callee"] as const)
      expect(stored).toContain(matters[name])
    expect(tables.length).toBeGreaterThan(15)

    await service.stop()
    const files = filesOf(data)
    expect(files.some(isLog)).toBe(true)
    const findings = [
      ...found("spans, metrics and logs sent", everything, exported),
      ...found("/metrics", everything, scraped),
      ...found("the log", everything, logged),
      ...errors.flatMap(({ status, text, what }) => found(`${status} of ${clean(what)}`, everything, text)),
      ...bodies.flatMap(({ text, what }) => found(`the answer to ${clean(what)}`, secret, text)),
      ...tables.flatMap(([table, text]) => found(`table ${table}`, secret, text)),
      ...files.flatMap((file) =>
        found(file.slice(data.length), isLog(file) ? everything : secret, readFileSync(file).toString("latin1"))
      )
    ]
    expect(findings).toEqual([])
  })
})

const isLog = (file: string): boolean => file.endsWith(".log")

/** Of a request, what is no canary. */
const clean = (what: string): string => what.split("?")[0] ?? ""
