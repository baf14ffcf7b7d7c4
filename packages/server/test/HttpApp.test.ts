import { assert, layer } from "@effect/vitest"
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { DataFolder } from "@parley/workspace/storage/Database"
import { Effect, Redacted } from "effect"
import { connect, type AddressInfo } from "node:net"
import { HttpListener } from "../src/http/HttpListener.ts"
import { serviceWith } from "../src/testing/TestService.ts"

const service = serviceWith()

interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
  readonly headers: Headers
}

/** A caller with the first key. */
const caller = Effect.gen(function* () {
  const { server } = yield* HttpListener
  const keys = yield* ApiKeys
  const { path: folder } = yield* DataFolder
  const key = Redacted.value((yield* keys.first(undefined, folder)) ?? Redacted.make(""))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    Effect.promise(async (): Promise<Answer> => {
      const response = await fetch(base + path, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined || typeof body === "string" ? {} : { "content-type": "application/json" }),
          ...headers
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
      })
      const text = await response.text()
      return {
        status: response.status,
        body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>),
        headers: response.headers
      }
    })
  return { base, key, send }
})

const isEnvelope = (answer: Answer, status: number) => {
  assert.strictEqual(answer.status, status)
  assert.strictEqual(answer.body["status"], status)
  assert.isString(answer.body["message"])
  assert.isNull(answer.body["reason"])
}

layer(service, { excludeTestServices: true, timeout: "60 seconds" })("HttpApp", (it) => {
  it.effect("answers every failed request with the error body", () =>
    Effect.gen(function* () {
      const { base, send } = yield* caller
      const json = { "content-type": "application/json" }
      isEnvelope(yield* send("GET", "/nowhere"), 404)
      isEnvelope(yield* send("GET", "/v1/agent/agents/agent_unknown"), 404)
      isEnvelope(yield* send("GET", "/v1/agent/agents/%00"), 404)
      isEnvelope(yield* send("GET", "/v1/agent/agents/%zz"), 404)
      isEnvelope(yield* send("GET", `/v1/agent/agents/${"x".repeat(300)}`), 404)
      isEnvelope(yield* send("PUT", "/v1/agent/agents"), 404)
      isEnvelope(yield* send("GET", "/v1/agent/agents/agent_x/versions/one"), 404)
      const malformed = yield* send("POST", "/v1/agent/agents", "{no", json)
      isEnvelope(malformed, 400)
      assert.strictEqual(malformed.body["message"], "Malformed JSON")
      isEnvelope(yield* send("POST", "/v1/agent/agents", "name=x", { "content-type": "text/plain" }), 415)
      isEnvelope(yield* send("POST", "/v1/agent/agents", JSON.stringify("x".repeat(5_000_000)), json), 413)
      isEnvelope(yield* send("POST", "/v1/agent/agents"), 422)
      isEnvelope(yield* send("GET", "/v1/agent/sessions?agent_id=%00"), 422)
      isEnvelope(yield* send("GET", "/v1/agent/sessions?page_size=0"), 422)
      isEnvelope(yield* send("GET", "/v1/agent/sessions?page=1&cursor=a"), 400)
      isEnvelope(yield* send("GET", "/v1/agent/agents?cursor=a"), 400)
      for (const authorization of ["", "Bearer", "Bearer wrong", "Basic abc"]) {
        const answer = yield* send("GET", "/v1/agent/agents", undefined, { authorization })
        isEnvelope(answer, 401)
        assert.strictEqual(answer.headers.get("www-authenticate"), "Bearer")
      }
      const secret = "do-not-repeat-me"
      const invalid = yield* send("POST", "/v1/agent/agents", {
        name: { secret },
        config: { voice: { speed: secret } }
      })
      isEnvelope(invalid, 422)
      assert.deepStrictEqual(
        (invalid.body["errors"] as ReadonlyArray<{ loc: unknown }>).map(({ loc }) => loc),
        [
          ["body", "name"],
          ["body", "config", "voice", "speed"]
        ]
      )
      assert.notInclude(JSON.stringify(invalid.body), secret)
      const nested = yield* send("POST", "/v1/agent/agents", { name: "a", config: { tools: { tool_ids: ["t"] } } })
      assert.deepStrictEqual((nested.body["errors"] as ReadonlyArray<{ loc: unknown }>)[0]?.loc, [
        "body",
        "config",
        "tools",
        "tool_ids",
        0
      ])
      const garbage = yield* Effect.promise(
        () =>
          new Promise<string>((resolve) => {
            const socket = connect(Number(new URL(base).port), "127.0.0.1", () => socket.end("NOT HTTP\r\n\r\n"))
            let text = ""
            socket.on("data", (chunk) => (text += String(chunk)))
            socket.on("close", () => resolve(text))
          })
      )
      assert.match(garbage, /^HTTP\/1\.1 400 /)
      assert.deepStrictEqual(JSON.parse(garbage.split("\r\n\r\n")[1] ?? ""), {
        status: 400,
        message: "Bad request",
        reason: null
      })
    })
  )

  it.effect("takes an agent from making to a session and its end", () =>
    Effect.gen(function* () {
      const { send } = yield* caller
      const made = yield* send("POST", "/v1/agent/agents", { name: "Ada" })
      assert.strictEqual(made.status, 201)
      const agent = `/v1/agent/agents/${String(made.body["agent_id"])}`
      const config = yield* send("GET", `${agent}/config`)
      const again = yield* send("PATCH", `${agent}/config`, config.body)
      assert.deepStrictEqual(again.body, config.body)
      const input = { agent_id: made.body["agent_id"] }
      isEnvelope(yield* send("POST", "/v1/agent/sessions", input), 409)
      const published = yield* send("POST", `${agent}/publish`)
      assert.deepStrictEqual([published.status, published.body["version_number"]], [200, 1])
      const form = { "content-type": "application/x-www-form-urlencoded", "content-length": "0" }
      const same = yield* send("POST", `${agent}/publish`, undefined, form)
      assert.deepStrictEqual(same.body, published.body)
      isEnvelope(yield* send("POST", "/v1/agent/sessions", { ...input, overrides: { first_message: "Hi" } }), 400)
      isEnvelope(yield* send("POST", "/v1/agent/sessions", { ...input, overrides: { nope: "Hi" } }), 422)
      isEnvelope(yield* send("POST", "/v1/agent/sessions", { ...input, timezone: "Nowhere/City" }), 422)
      isEnvelope(yield* send("POST", "/v1/agent/sessions", { ...input, agent_id: "agent_unknown" }), 404)
      yield* send("PATCH", agent, { overrides_allowed: ["first_message", "voice_id"] })
      const variable = yield* send("POST", "/v1/agent/sessions", {
        ...input,
        overrides: { first_message: "It is {{system.now}}" }
      })
      isEnvelope(variable, 422)
      assert.include(JSON.stringify(variable), '"loc":["body","overrides","first_message"]')
      const voice = { ...input, overrides: { voice_id: "nobody" } }
      isEnvelope(yield* send("POST", "/v1/agent/sessions", voice), 422)
      const opened = yield* send("POST", "/v1/agent/sessions", {
        ...input,
        overrides: { first_message_prompt: "Greet." },
        metadata: { order: 7 },
        llm_extra_body: { seed: 1 }
      })
      assert.strictEqual(opened.status, 201)
      assert.match(String(opened.body["rtc_url"]), /^ws:\/\/127\.0\.0\.1:\d+$/)
      assert.strictEqual(opened.body["livekit_url"], opened.body["rtc_url"])
      const life = Date.parse(String(opened.body["expires_at"])) - Date.now()
      assert.isTrue(life > 590_000 && life <= 600_000)
      const session = `/v1/agent/sessions/${String(opened.body["session_id"])}`
      assert.strictEqual((yield* send("POST", `${session}/end`)).status, 204)
      assert.strictEqual((yield* send("POST", `${session}/end`)).status, 204)
      const ended = yield* send("GET", session)
      assert.deepInclude(ended.body, {
        status: "failed",
        end_reason: "cancelled",
        metadata: { order: 7 },
        items: [],
        analysis: null,
        latency: []
      })
      assert.deepStrictEqual((yield* send("GET", `${session}/journal`)).body["entries"], [])
      isEnvelope(yield* send("POST", "/v1/agent/sessions/session_unknown/end"), 404)
      const preview = yield* send("POST", `${agent}/preview-sessions`)
      assert.deepStrictEqual([preview.status, preview.body["max_duration_seconds"]], [201, 600])
      isEnvelope(yield* send("GET", `/v1/agent/sessions/${String(preview.body["session_id"])}`), 404)
      isEnvelope(yield* send("POST", `${agent}/preview-sessions`, { name: "x" }), 422)
      assert.strictEqual((yield* send("POST", `${agent}/duplicate`)).status, 201)
      assert.strictEqual((yield* send("DELETE", agent)).status, 204)
      isEnvelope(yield* send("GET", agent), 404)
      assert.strictEqual((yield* send("GET", session)).body["agent_name"], "Ada")
    })
  )

  it.effect("describes itself, lets browsers call and counts", () =>
    Effect.gen(function* () {
      const { base, send } = yield* caller
      const described = yield* send("GET", "/openapi.json")
      assert.strictEqual(described.body["openapi"], "3.1.0")
      assert.include(Object.keys(described.body["paths"] ?? {}), "/v1/agent/agents/{agent_id}/config")
      const texts = yield* Effect.promise(() =>
        Promise.all(["/docs", "/metrics", "/"].map((path) => fetch(base + path).then((response) => response.text())))
      )
      assert.notMatch(texts[0] ?? "", /<(script|link)[^>]+(src|href)="https?:/)
      assert.include(texts[1], "parley_http_requests_total")
      const preflight = yield* Effect.promise(() =>
        fetch(`${base}/v1/agent/sessions`, {
          method: "OPTIONS",
          headers: {
            origin: "https://shop.example",
            "access-control-request-method": "POST",
            "access-control-request-headers": "authorization,content-type,x-vendor-sdk"
          }
        })
      )
      assert.strictEqual(preflight.status, 204)
      assert.strictEqual(preflight.headers.get("access-control-allow-origin"), "*")
      assert.include(preflight.headers.get("access-control-allow-headers"), "x-vendor-sdk")
      const foreign = yield* send("GET", "/nowhere", undefined, { origin: "https://shop.example" })
      assert.strictEqual(foreign.headers.get("access-control-allow-origin"), "*")
    })
  )
})
