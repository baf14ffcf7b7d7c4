// What one workspace may learn of another's records: nothing. Every operation of the description with an id in its
// path is called by a stranger with the owner's id and with an id that never was, and answers both with the same bytes;
// lists and bodies are held to the same. An operation this file does not know fails it.
import { layer } from "@effect/vitest"
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { Blobs } from "@parley/workspace/storage/Blobs"
import { newId } from "@parley/workspace/storage/Id"
import { Recordings } from "@parley/workspace/recordings/Recordings"
import { SessionLife } from "@parley/workspace/sessions/SessionLife"
import { VoiceModels } from "@parley/workspace/voices/VoiceModels"
import { Workspaces } from "@parley/workspace/identity/Workspaces"
import { plainHost, plainMcpServer } from "@parley/workspace/testing/PlainMcpServer"
import { Effect, Redacted } from "effect"
import { writeFileSync } from "node:fs"
import type { AddressInfo } from "node:net"
import { expect } from "vitest"
import { HttpListener } from "../../../src/http/HttpListener.ts"
import { serviceWith } from "../../../src/testing/TestService.ts"

const service = serviceWith({ PARLEY_ALLOW_PRIVATE_NETWORKS: plainHost })

interface Operation {
  readonly id: string
  readonly method: string
  /** As described, with {names}. */
  readonly path: string
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly in: string }>
}

interface Answer {
  readonly status: number
  readonly type: string | null
  readonly body: string
}

const form = (fields: Readonly<Record<string, string | Blob>>): FormData => {
  const made = new FormData()
  for (const [name, value] of Object.entries(fields)) made.append(name, value)
  return made
}

const markdown = (text: string) => new File([text], "mine.md", { type: "text/markdown" })

/** A body that each writing operation takes; undefined where it has none. */
const bodies: Readonly<Record<string, unknown>> = {
  "agents.updateAgent": { name: "Taken" },
  "agents.updateAgentConfig": { prompt: { system_prompt: "Taken." } },
  "agents.publishAgent": { version_title: "Taken" },
  "agents.duplicateAgent": { name: "Taken" },
  "agents.createPreviewSession": {},
  "sessions.analyseSessionAgain": undefined,
  "sessions.endSession": undefined,
  "tools.updateTool": { description: "Taken." },
  "tools.testTool": { arguments: {} },
  "agentTests.updateTest": { name: "Taken" },
  "agentTests.attachTest": undefined,
  "agentTests.runTests": {},
  "mcpServers.updateMcpServer": { timeout_seconds: 9 },
  "knowledgeSources.updateKnowledgeSource": () => form({ name: "Taken" }),
  "models.updateModel": { title: "Taken" },
  "phoneNumbers.updatePhoneNumber": { label: "Taken" },
  "phoneNumbers.replaceSipConfig": { inbound_allowed_addresses: ["203.0.113.1"] },
  "webhooks.resendWebhookDelivery": undefined,
  "keys.updateKey": { label: "Taken" },
  "keys.rotateKey": { overlap_seconds: 60 }
}

/**
 * Where another status than 404 is the contract. A private voice model of another workspace is 403, an unknown one 404; the
 * widget answers visitors, who get the same 403 for an unknown agent as for one that is not public.
 */
const otherwise: Readonly<Record<string, { readonly foreign: number; readonly unknown: number }>> = {
  "models.getModel": { foreign: 403, unknown: 404 },
  "models.updateModel": { foreign: 403, unknown: 404 },
  "models.deleteModel": { foreign: 403, unknown: 404 },
  "models.getModelCover": { foreign: 403, unknown: 404 },
  "models.getModelSample": { foreign: 403, unknown: 404 },
  "sessionStart.getAgentWidget": { foreign: 403, unknown: 403 }
}

/** Not asked by workspace: a signed address is good for whoever has it, and says nothing without its signature. */
const signed: ReadonlySet<string> = new Set(["recordings.getRecordingFile"])

const twoWorkspaces = Effect.gen(function* () {
  const { server } = yield* HttpListener
  const keys = yield* ApiKeys
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const caller = Effect.fnUntraced(function* (workspace: string) {
    const key = Redacted.value((yield* keys.create(workspace)).key)
    const ask = (method: string, path: string, body?: unknown): Effect.Effect<Answer> =>
      Effect.promise(async () => {
        const given: unknown = typeof body === "function" ? (body as () => unknown)() : body
        const isForm = given instanceof FormData
        const response = await fetch(base + path, {
          method,
          headers: {
            authorization: `Bearer ${key}`,
            ...(given === undefined || isForm ? {} : { "content-type": "application/json" })
          },
          ...(given === undefined ? {} : { body: isForm ? given : JSON.stringify(given) })
        })
        return {
          status: response.status,
          type: response.headers.get("content-type"),
          body: await response.text()
        }
      })
    const make = (path: string, body: unknown) =>
      Effect.map(ask("POST", path, body), ({ body: text, status }) => {
        if (status !== 200 && status !== 201) throw new Error(`${path}: ${status} ${text}`)
        return JSON.parse(text) as Record<string, string>
      })
    return { ask, make }
  })
  const described = yield* Effect.promise(async () => {
    const { paths } = (await (await fetch(`${base}/openapi.json`)).json()) as {
      readonly paths: Record<string, Record<string, { operationId: string; parameters?: Operation["parameters"] }>>
    }
    return Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, parameters = [] }]): Operation => ({
        id: operationId,
        method: method.toUpperCase(),
        path,
        parameters
      }))
    )
  })
  return { caller, described }
})

type Caller = Effect.Success<ReturnType<Effect.Success<typeof twoWorkspaces>["caller"]>>

let numbersMade = 0

/** One of each of what a workspace can own, by the name its id has in paths. */
const estate = Effect.fnUntraced(function* (name: string, { ask, make }: Caller) {
  const base = "/v1/agent"
  const workspace = yield* (yield* Workspaces).ensure(name)
  const models = yield* VoiceModels
  const blobs = yield* Blobs
  const write = (area: "covers" | "samples") =>
    Effect.map(
      blobs.write(area, (path) => Effect.sync(() => writeFileSync(path, "bytes"))),
      (written) => written.name
    )
  const { _id: model } = yield* models.insert(workspace, {
    title: "Mine",
    description: "",
    visibility: "private",
    tags: [],
    languages: [],
    source: null,
    cover: { blob: yield* write("covers"), type: "image/png" },
    defaultText: "",
    profile: { pitchHz: 120, pitchSpreadHz: 20, pace: 1, tract: 1, colour: [0, 1] },
    quality: [],
    references: [],
    samples: [{ title: "one", text: "one", blob: yield* write("samples") }]
  })
  const shown = JSON.parse((yield* ask("GET", `/model/${model}`)).body) as { samples: Array<{ task_id: string }> }
  const { tool_id } = yield* make(`${base}/tools`, {
    tool_type: "webhook",
    name: "Book",
    url: "https://api.example.com/book",
    headers: [{ kind: "authorization_bearer", value: "Bearer mine" }]
  })
  const { mcp_server_id } = yield* make(`${base}/mcp-servers`, { name: "Mine", url: (yield* plainMcpServer).url })
  const { knowledge_source_id } = yield* make(`${base}/knowledge-sources`, () =>
    form({ source: markdown("# Mine\n\nA secret of the workspace."), name: "Mine.md" })
  )
  const { agent_id = "" } = yield* make(`${base}/agents`, {
    name: "Mine",
    config: {
      tools: { tool_ids: [tool_id], mcp_server_ids: [mcp_server_id] },
      knowledge_base: { knowledge_source_ids: [knowledge_source_id] },
      webhooks: { post_call: [{ url: "https://hooks.example.invalid/mine", secret: "mine" }] }
    }
  })
  yield* make(`${base}/agents/${agent_id}/publish`, {})
  const { phone_number_id = "" } = yield* make(`${base}/phone-numbers`, {
    provider: "sip",
    phone_number: `+1415${String(1_000_000 + numbersMade++)}`,
    agent_id,
    inbound_allowed_addresses: ["203.0.113.7"],
    termination_uri: "sip.example.invalid"
  })
  const { session_id = "" } = yield* make(`${base}/sessions`, {
    agent_id,
    metadata: { mine: "yes" },
    record_audio: true
  })
  const { test_id = "" } = yield* make(`${base}/tests`, {
    name: "Mine",
    turns: ["Hello."],
    expectations: [{ type: "reply_contains", text: "hello" }]
  })
  yield* ask("PUT", `${base}/agents/${agent_id}/tests/${test_id}`)
  const { batch_id = "" } = yield* make(`${base}/agents/${agent_id}/tests/run`, {})
  const batch = Effect.map(
    ask("GET", `${base}/agents/${agent_id}/test-batches/${batch_id}`),
    ({ body }) =>
      JSON.parse(body) as { readonly status: string; readonly test_runs: ReadonlyArray<{ readonly run_id: string }> }
  )
  for (let tries = 0; (yield* batch).status === "running" && tries < 400; tries++) yield* Effect.sleep(50)
  const life = yield* SessionLife
  yield* life.claim(session_id)
  yield* life.settle(session_id, "user_hangup")
  const recordings = yield* Recordings
  const track = { id: newId("track"), role: "user" as const, blob: blobs.fresh("recordings") }
  yield* recordings.begin(session_id, [track], Date.now())
  yield* recordings.settle(track.id, { durationMs: 0, errorCode: "recorder_lost" })
  // Its analysis, which finds nothing to work with, is over: from here on nothing changes by itself.
  const analysed = Effect.map(
    ask("GET", `${base}/sessions/${session_id}`),
    ({ body }) => (JSON.parse(body) as { readonly analysis: unknown }).analysis !== null
  )
  for (let tries = 0; !(yield* analysed) && tries < 400; tries++) yield* Effect.sleep(50)
  const log = JSON.parse((yield* ask("GET", `${base}/sessions/${session_id}/webhook-deliveries`)).body) as {
    readonly webhook_deliveries: ReadonlyArray<{ readonly delivery_id: string }>
  }
  const { key_id = "" } = yield* make("/v1/keys", { label: "Mine" })
  return {
    agent_id,
    session_id,
    key_id,
    tool_id: tool_id ?? "",
    mcp_server_id: mcp_server_id ?? "",
    phone_number_id,
    test_id,
    batch_id,
    run_id: (yield* batch).test_runs[0]?.run_id ?? "",
    source_id: knowledge_source_id ?? "",
    model_id: model,
    task_id: shown.samples[0]?.task_id ?? "",
    delivery_id: log.webhook_deliveries[0]?.delivery_id ?? "",
    user_id: workspace,
    version_number: "1"
  } satisfies Record<string, string>
})

type Estate = Effect.Success<ReturnType<typeof estate>>

/** Ids of the same form that never were. A part of a record that is not there stays what it is of the owner's. */
const nowhere = (real: Estate): Estate => ({
  ...real,
  agent_id: newId("agent"),
  session_id: newId("session"),
  key_id: newId("key"),
  tool_id: newId("tool"),
  mcp_server_id: newId("mcp"),
  phone_number_id: newId("phone"),
  test_id: newId("test"),
  batch_id: newId("batch"),
  run_id: newId("run"),
  source_id: newId("source"),
  model_id: "0123456789abcdef0123456789abcdef",
  delivery_id: newId("delivery"),
  user_id: newId("ws")
})

const namesIn = (path: string): ReadonlyArray<string> => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name)

const filled = (path: string, ids: Readonly<Record<string, string>>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => ids[name] ?? "")

/** A section of a configuration that refers to these records. */
const config = (ids: Estate, section: "tools" | "mcp" | "knowledge_base" | "voice") => ({
  [section === "mcp" ? "tools" : section]: {
    tools: { tool_ids: [ids.tool_id] },
    mcp: { mcp_server_ids: [ids.mcp_server_id] },
    knowledge_base: { knowledge_source_ids: [ids.source_id] },
    voice: { voice_id: ids.model_id }
  }[section]
})

/** Deleting comes last, so that the owner's records are there for all the others. */
const inOrder = (operations: ReadonlyArray<Operation>): ReadonlyArray<Operation> =>
  operations.toSorted((a, b) => Number(a.method === "DELETE") - Number(b.method === "DELETE"))

const stage = Effect.gen(function* () {
  const { caller, described } = yield* twoWorkspaces
  const name = newId("owner")
  const [owner, stranger] = [yield* caller(name), yield* caller(newId("stranger"))]
  const real = yield* estate(name, owner)
  return { caller, described, owner, stranger, real, none: nowhere(real) }
})

layer(service, { excludeTestServices: true, timeout: "60 seconds" })("between workspaces", (it) => {
  it.effect("an id of another's in a path is an id that never was, for every operation, and nothing is changed", () =>
    Effect.gen(function* () {
      const { described, none, owner, real, stranger } = yield* stage
      const operations = inOrder(described.filter(({ id, path }) => path.includes("{") && !signed.has(id)))
      expect(operations.length).toBeGreaterThan(25)
      const known = new Set(Object.keys(real))
      const uncovered = operations.filter(
        ({ id, method, path }) =>
          namesIn(path).some((name) => !known.has(name)) || (method !== "GET" && method !== "DELETE" && !(id in bodies))
      )
      expect(uncovered.map(({ id }) => id)).toEqual([])

      const others = new Set(["sessionStart.getAgentWidget", "mcpServers.listMcpServerTools"])
      const reads = operations.filter(({ id, method }) => method === "GET" && !others.has(id))
      const look = Effect.forEach(reads, ({ id, path }) =>
        Effect.map(owner.ask("GET", filled(path, real)), (answer) => ({ id, ...answer }))
      )
      const before = yield* look
      // What the owner cannot see either would prove nothing.
      expect(before.filter(({ status }) => status !== 200).map(({ id, status }) => `${id} ${status}`)).toEqual([])

      for (const { id, method, path } of operations) {
        const foreign = yield* stranger.ask(method, filled(path, real), bodies[id])
        const unknown = yield* stranger.ask(method, filled(path, none), bodies[id])
        const expected = otherwise[id] ?? { foreign: 404, unknown: 404 }
        expect([id, foreign.status, unknown.status]).toEqual([id, expected.foreign, expected.unknown])
        if (foreign.status === unknown.status) expect(foreign, id).toEqual(unknown)
        for (const one of Object.values(real)) if (one !== "1") expect(foreign.body, id).not.toContain(one)
      }
      expect(settled(yield* look)).toEqual(settled(before))
    })
  )

  it.effect("an id of another's under one's own agent is an id that never was", () =>
    Effect.gen(function* () {
      const { described, none, real, stranger } = yield* stage
      const { agent_id = "" } = yield* stranger.make("/v1/agent/agents", { name: "Theirs" })
      const nested = inOrder(
        described.filter(({ path }) => namesIn(path).length > 1 && path.includes("{agent_id}") && !/version/.test(path))
      )
      expect(nested.length).toBeGreaterThan(2)
      for (const { id, method, path } of nested) {
        const foreign = yield* stranger.ask(method, filled(path, { ...real, agent_id }), bodies[id])
        const unknown = yield* stranger.ask(method, filled(path, { ...none, agent_id }), bodies[id])
        expect([id, foreign.status]).toEqual([id, 404])
        expect(foreign, id).toEqual(unknown)
      }
    })
  )

  it.effect("lists show a stranger nothing, whatever they are filtered by", () =>
    Effect.gen(function* () {
      const { described, none, owner, real, stranger } = yield* stage
      const lists = described.filter(
        ({ method, path }) => method === "GET" && !path.includes("{") && path !== "/health"
      )
      const shown: Array<string> = []
      for (const { id, parameters, path } of lists) {
        const mine = yield* owner.ask("GET", path)
        const theirs = yield* stranger.ask("GET", path)
        expect([id, mine.status, theirs.status]).toEqual([id, 200, 200])
        for (const [name, one] of Object.entries(real)) {
          if (name === "version_number") continue
          expect(theirs.body, id).not.toContain(one)
          if (mine.body.includes(one)) shown.push(name)
        }
        for (const { name } of parameters.filter((parameter) => parameter.in === "query")) {
          const ids: Readonly<Record<string, string>> = { ...real, author_id: real.user_id }
          const never: Readonly<Record<string, string>> = { ...none, author_id: none.user_id }
          if (ids[name] === undefined) continue
          const filter = (value: string | undefined) => stranger.ask("GET", `${path}?${name}=${value}`)
          expect(yield* filter(ids[name]), `${id} by ${name}`).toEqual(yield* filter(never[name]))
        }
      }
      // Each kind of record was in some list of its owner's: the silence above means something.
      expect([...new Set(shown)].sort()).toEqual(
        expect.arrayContaining([
          "agent_id",
          "model_id",
          "key_id",
          "phone_number_id",
          "session_id",
          "source_id",
          "tool_id"
        ])
      )
    })
  )

  it.effect("an id of another's in a body is an id that never was", () =>
    Effect.gen(function* () {
      const { none, owner, real, stranger } = yield* stage
      const agents = "/v1/agent/agents"
      const { agent_id: own = "" } = yield* stranger.make(agents, { name: "Theirs" })
      yield* stranger.ask("PATCH", `${agents}/${own}`, { overrides_allowed: ["voice_id"] })
      yield* stranger.make(`${agents}/${own}/publish`, {})
      const cases: ReadonlyArray<
        readonly [what: string, status: number, method: string, path: string, body: (ids: Estate) => unknown]
      > = [
        ...(["tools", "mcp", "knowledge_base", "voice"] as const).flatMap((section) => [
          [
            `config ${section}`,
            422,
            "PATCH",
            `${agents}/${own}/config`,
            (ids: Estate) => config(ids, section)
          ] as const,
          [
            `new agent ${section}`,
            422,
            "POST",
            agents,
            (ids: Estate) => ({ name: "New", config: config(ids, section) })
          ] as const
        ]),
        [
          "number's agent",
          422,
          "POST",
          "/v1/agent/phone-numbers",
          ({ agent_id }) => ({
            provider: "sip",
            phone_number: "+14159999999",
            agent_id,
            inbound_allowed_addresses: ["203.0.113.7"]
          })
        ],
        [
          "agent of a call",
          404,
          "POST",
          "/v1/agent/phone-calls",
          ({ agent_id }) => ({ agent_id, phone_number_id: "phone_none", to_number: "+14155550100" })
        ],
        [
          "number of a call",
          404,
          "POST",
          "/v1/agent/phone-calls",
          ({ phone_number_id }) => ({ agent_id: own, phone_number_id, to_number: "+14155550100" })
        ],
        ["session", 404, "POST", "/v1/agent/sessions", ({ agent_id }) => ({ agent_id })],
        [
          "voice of a session",
          422,
          "POST",
          "/v1/agent/sessions",
          ({ model_id }) => ({ agent_id: own, overrides: { voice_id: model_id } })
        ],
        ["speech", 400, "POST", "/v1/tts", ({ model_id }) => ({ text: "Hello.", reference_id: model_id })],
        [
          "timed speech",
          400,
          "POST",
          "/v1/tts/stream/with-timestamp",
          ({ model_id }) => ({ text: "Hello.", reference_id: model_id })
        ],
        [
          "speech of the OpenRouter-compatible API",
          400,
          "POST",
          "/compat/api/v1/audio/speech",
          ({ model_id }) => ({ model: "vendor-audio/s2.1-pro", input: "Hello.", voice: model_id })
        ]
      ]
      for (const [what, status, method, path, body] of cases) {
        const foreign = yield* stranger.ask(method, path, body(real))
        const unknown = yield* stranger.ask(method, path, body(none))
        expect([what, foreign.status], foreign.body).toEqual([what, status])
        expect(foreign, what).toEqual(unknown)
      }
      const elevenlabs = (ids: Estate) =>
        stranger.ask("POST", `/compat/elevenlabs/v1/text-to-speech/${ids.model_id}`, { text: "Hello." })
      expect((yield* elevenlabs(real)).status).toBeGreaterThanOrEqual(400)
      expect(yield* elevenlabs(real)).toEqual(yield* elevenlabs(none))
      const spoken = yield* owner.ask("POST", "/v1/tts", { text: "Hello.", reference_id: real.model_id, format: "pcm" })
      expect(spoken.status, "its owner speaks with it").toBe(200)
    })
  )
})

/** Without what time alone changes: attempts of a delivery, and use. */
const settled = (answers: ReadonlyArray<Answer & { readonly id: string }>) =>
  answers.map(({ body, id, status, type }) => ({
    id,
    status,
    type,
    body: id === "webhooks.listWebhookDeliveries" || id.startsWith("wallet.") ? "" : body
  }))
