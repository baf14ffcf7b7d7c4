import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { requestTicket } from "../src/browser/PublicSession.ts"

const asked: Array<Record<string, unknown>> = []
let answer: { readonly status: number; readonly body: unknown } = { status: 201, body: {} }
const server = createServer((request, response) => {
  let text = ""
  request.on("data", (chunk) => (text += String(chunk)))
  request.on("end", () => {
    asked.push(JSON.parse(text) as Record<string, unknown>)
    response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify(answer.body))
  })
})
let serverUrl = ""

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  serverUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

const ticket = { session_id: "session_1", token: "t", rtc_url: "ws://x", transport: "livekit" }

describe("a session with a public agent", () => {
  it("is asked for in the service's words, with nothing that was not said", async () => {
    answer = { status: 201, body: ticket }
    const made = await requestTicket("agent_1", {
      serverUrl,
      language: "de",
      overrides: { voice_id: "rms" },
      dynamicVariables: { name: "Ada" },
      endUserId: "u1"
    })
    expect(made).toEqual(ticket)
    expect(asked.at(-1)).toEqual({
      agent_id: "agent_1",
      client_timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      overrides: { voice_id: "rms", language: "de" },
      dynamic_variables: { name: "Ada" },
      end_user_id: "u1"
    })
  })

  it.each([
    [403, "The origin is not allowed", "origin_forbidden"],
    [403, "The agent is not public", "agent_not_public"],
    [429, "Too many sessions in this minute", "session_request_failed"],
    [500, "Internal server error", "session_request_failed"]
  ])("%i %s is told as such", async (status, message, code) => {
    answer = { status, body: { status, message, reason: null } }
    await expect(requestTicket("agent_1", { serverUrl })).rejects.toMatchObject({ code, message })
  })

  it("says when nobody answers", async () => {
    await expect(requestTicket("agent_1", { serverUrl: "http://127.0.0.1:1" })).rejects.toMatchObject({
      code: "session_request_failed"
    })
  })

  it("refuses a transport it does not know", async () => {
    answer = { status: 201, body: { ...ticket, transport: "other" } }
    await expect(requestTicket("agent_1", { serverUrl })).rejects.toMatchObject({ code: "unsupported_transport" })
  })
})
