// The client of the main API against a server that answers as told: what goes out, and what comes back as an error.
import { createServer, type IncomingMessage, type Server } from "node:http"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { ParleyClient, ParleyError } from "../src/ParleyClient.ts"

interface Asked {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly authorization: string | undefined
  readonly contentType: string | undefined
  readonly key: string | string[] | undefined
  readonly body: string
}

const read = async (request: IncomingMessage): Promise<string> => {
  let text = ""
  for await (const part of request) text += String(part)
  return text
}

describe("ParleyClient", () => {
  let server: Server
  let client: ParleyClient
  let asked: Asked
  let answer = { status: 200, body: "{}" }

  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const { authorization, "content-type": contentType, "idempotency-key": key } = request.headers
      asked = { method: request.method, url: request.url, authorization, contentType, key, body: await read(request) }
      response.writeHead(answer.status).end(answer.body)
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    client = new ParleyClient({
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      apiKey: "pk_key"
    })
  })
  afterAll(() => server.close())

  const failureOf = async (status: number, body: string): Promise<ParleyError> => {
    answer = { status, body }
    const failure: unknown = await client.agents.get("a").catch((error: unknown) => error)
    if (!(failure instanceof ParleyError)) throw new Error("it did not fail as a ParleyError")
    return failure
  }

  it.each([
    ["GET", "/health", () => client.health()],
    ["GET", "/v1/agent/agents", () => client.agents.list()],
    ["GET", "/v1/agent/agents?page_size=5", () => client.agents.list({ page_size: 5, cursor: undefined })],
    ["GET", "/v1/agent/agents/a%2Fb%3F", () => client.agents.get("a/b?")],
    ["GET", "/v1/agent/agents/a/config", () => client.agents.config("a")],
    ["PATCH", "/v1/agent/agents/a/config", () => client.agents.configure("a", { voice: { voice_id: "slt" } })],
    ["PATCH", "/v1/agent/agents/a", () => client.agents.update("a", { name: "Ann" })],
    ["POST", "/v1/agent/agents", () => client.agents.create({ name: "Ann" })],
    ["POST", "/v1/agent/agents/a/publish", () => client.agents.publish("a")],
    ["POST", "/v1/agent/agents/a/preview-sessions", () => client.agents.preview("a")],
    ["POST", "/v1/agent/sessions", () => client.sessions.create({ agent_id: "a" })],
    ["GET", "/v1/agent/mcp-servers/m/tools", () => client.management.mcpServers.tools("m")],
    ["PATCH", "/v1/agent/mcp-servers/m", () => client.management.mcpServers.update("m", { name: "Clock" })],
    ["GET", "/v1/agent/tests?agent_id=a", () => client.management.tests.list({ agent_id: "a" })],
    ["PUT", "/v1/agent/agents/a/tests/t", () => client.management.tests.attach("t", "a")],
    ["DELETE", "/v1/agent/agents/a/tests/t", () => client.management.tests.detach("t", "a")],
    ["POST", "/v1/agent/agents/a/tests/run", () => client.management.tests.run("a")],
    ["GET", "/v1/agent/agents/a/test-batches/b", () => client.management.tests.batch("a", "b")],
    ["GET", "/v1/agent/test-runs/r", () => client.management.tests.getRun("r")],
    ["GET", "/v1/agent/phone-numbers?agent_id=a", () => client.phone.list({ agent_id: "a" })],
    ["PUT", "/v1/agent/phone-numbers/n/sip-config", () => client.phone.configure("n", { termination_uri: "pbx" })],
    ["DELETE", "/v1/agent/phone-numbers/n", () => client.phone.release("n")],
    ["GET", "/v1/agent/available-phone-numbers?area_code=415", () => client.phone.available({ area_code: "415" })],
    ["GET", "/v1/agent/sessions?status=active%2Cpending", () => client.sessions.list({ status: "active,pending" })],
    ["GET", "/v1/agent/sessions/s", () => client.sessions.get("s")]
  ] as const)("asks %s %s with the key", async (method, url, ask) => {
    answer = { status: 200, body: `{"asked":true}` }
    expect(await ask()).toEqual({ asked: true })
    expect(asked).toMatchObject({ method, url, authorization: "Bearer pk_key" })
  })

  it("sends a body as JSON, and none where there is none", async () => {
    answer = { status: 200, body: "{}" }
    await client.sessions.create({ agent_id: "a", metadata: { order: 7 } })
    expect(asked.contentType).toBe("application/json")
    expect(JSON.parse(asked.body)).toEqual({ agent_id: "a", metadata: { order: 7 } })
    await client.agents.get("a")
    expect(asked).toMatchObject({ contentType: undefined, body: "" })
  })

  it("places a call once for a key", async () => {
    answer = { status: 201, body: `{"session_id":"s","status":"queued"}` }
    const input = { agent_id: "a", phone_number_id: "p", to_number: "+14155550123" }
    expect(await client.phone.call(input, "order-7")).toEqual({ session_id: "s", status: "queued" })
    expect(asked).toMatchObject({ method: "POST", url: "/v1/agent/phone-calls", key: "order-7" })
    await client.phone.call(input)
    expect(asked.key).toBeUndefined()
  })

  it("takes 204 for done", async () => {
    answer = { status: 204, body: "" }
    expect(await client.agents.remove("a")).toBeUndefined()
    expect(asked).toMatchObject({ method: "DELETE", url: "/v1/agent/agents/a" })
    expect(await client.sessions.end("s")).toBeUndefined()
    expect(asked).toMatchObject({ method: "POST", url: "/v1/agent/sessions/s/end" })
  })

  it("fails with the fields of the error body", async () => {
    const error = await failureOf(409, `{"status":409,"message":"the agent was never published","reason":"not_live"}`)
    expect(error).toMatchObject({ status: 409, message: "the agent was never published", reason: "not_live" })
  })

  it.each([
    ["nothing", 502, ""],
    ["a page", 503, "<html>busy</html>"],
    ["another shape", 500, `{"message":7,"reason":[]}`],
    ["null", 404, "null"]
  ])("fails with the status alone when the error body is %s", async (_, status, body) => {
    expect(await failureOf(status, body)).toMatchObject({
      status,
      message: `The service answered ${status}`,
      reason: null
    })
  })

  it("does not take an answer that is not JSON for an answer", async () => {
    expect(await failureOf(200, "<html>a proxy's page</html>")).toMatchObject({
      status: 200,
      message: "The service did not answer in JSON"
    })
  })

  it("fails with status 0 when nobody answers", async () => {
    const nobody = new ParleyClient({ baseUrl: "http://127.0.0.1:1", apiKey: "pk_key" })
    await expect(nobody.health()).rejects.toMatchObject({ name: "ParleyError", status: 0 })
  })
})
