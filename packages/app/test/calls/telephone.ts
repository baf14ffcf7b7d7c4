// The whole service with a telephone that has no network, and a customer's endpoints on loopback that answer as a test
// says. Every test gets a workspace of its own.
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { newId } from "@parley/workspace/storage/Id"
import { Effect, Redacted, type Scope } from "effect"
import { createHmac } from "node:crypto"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import type { OpenSipServer } from "../../src/phone/Telephone.ts"
import { HttpListener } from "@parley/server/http/HttpListener"
import { makeFakeSipServer } from "../../src/testing/FakeSipServer.ts"
import { serviceWith as testService } from "@parley/server/testing/TestService"

/** Without a SIP server of its own: the one on the network. */
export const serviceWith = (env: Record<string, string>, sipServer?: OpenSipServer) =>
  // Nobody speaks: a recogniser is not needed.
  testService(
    { PARLEY_ASR_BASE_URL: "http://127.0.0.1:9/v1", PARLEY_ALLOW_PRIVATE_NETWORKS: "127.0.0.1", ...env },
    sipServer
  )

export const telephone = (env: Record<string, string>) => {
  const server = makeFakeSipServer()
  return { server, service: serviceWith(env, server.open) }
}

export interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
}

/** A stranger to all other tests: a key of a new workspace. */
export const customer = Effect.gen(function* () {
  const { server } = yield* HttpListener
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const workspace = newId("customer")
  const key = Redacted.value((yield* (yield* ApiKeys).create(workspace)).key)
  const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    Effect.promise(async (): Promise<Answer> => {
      const response = await fetch(`${base}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const text = await response.text()
      return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>) }
    })
  const made = (path: string, body: unknown) =>
    Effect.map(ask("POST", path, body), (answer) => {
      if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body
    })
  const agent = Effect.fnUntraced(function* (config: Record<string, unknown> = {}, published = true) {
    const { agent_id } = yield* made("/v1/agent/agents", { name: "Desk", config })
    if (published) yield* made(`/v1/agent/agents/${String(agent_id)}/publish`, {})
    return String(agent_id)
  })
  const number = Effect.fnUntraced(function* (more: Record<string, unknown> = {}) {
    const phone_number = freshNumber()
    const { phone_number_id } = yield* made("/v1/agent/phone-numbers", {
      provider: "sip",
      phone_number,
      inbound_allowed_addresses: ["203.0.113.7"],
      termination_uri: "sip.carrier.example",
      ...more
    })
    return { id: String(phone_number_id), number: phone_number }
  })
  const session = (id: string) => Effect.map(ask("GET", `/v1/agent/sessions/${id}`), ({ body }) => body)
  const sessions = Effect.map(
    ask("GET", "/v1/agent/sessions"),
    ({ body }) => body["sessions"] as ReadonlyArray<Record<string, unknown>>
  )
  /** Once its status is this. */
  const becomes = (id: string, status: string) =>
    eventually(session(id), (shown) => shown["status"] === status, `session is ${status}`)
  const events = (id: string) =>
    Effect.map(ask("GET", `/v1/agent/sessions/${id}/webhook-deliveries`), ({ body }) =>
      (body["webhook_deliveries"] as ReadonlyArray<{ event: string }>).map(({ event }) => event)
    )
  const kinds = Effect.map(ask("GET", "/wallet/self/usage"), ({ body }) =>
    (body["usage"] as ReadonlyArray<{ kind: string }>).map(({ kind }) => kind)
  )
  return { workspace, ask, agent, number, session, sessions, becomes, events, kinds }
})

let numbers = 0
const freshNumber = (): string => `+1415${String(2_000_000 + numbers++)}`

/** Asks again until it holds; fails after long enough for any machine. */
export const eventually = <A, R>(
  look: Effect.Effect<A, never, R>,
  holds: (seen: A) => boolean,
  what: string
): Effect.Effect<A, never, R> =>
  Effect.gen(function* () {
    let seen = yield* look
    for (let tries = 0; !holds(seen); tries++) {
      if (tries > 1000) throw new Error(`never: ${what}; last seen ${JSON.stringify(seen)}`)
      yield* Effect.sleep(20)
      seen = yield* look
    }
    return seen
  })

export interface ReceivedRequest {
  readonly headers: IncomingHttpHeaders
  readonly body: Record<string, unknown>
  readonly raw: string
}

/** What an endpoint does with each request, in order; the last for ever. Undefined: it never answers. */
export type Reply = { readonly status: number; readonly body: string } | "hang up" | undefined

export const endpoint = (
  replies: ReadonlyArray<Reply>
): Effect.Effect<{ readonly url: string; readonly asked: ReadonlyArray<ReceivedRequest> }, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<{ url: string; asked: Array<ReceivedRequest>; close: () => void }>((resolve) => {
          const asked: Array<ReceivedRequest> = []
          const server = createServer((request, response) => {
            let raw = ""
            request.on("data", (piece) => (raw += String(piece)))
            request.on("end", () => {
              asked.push({ headers: request.headers, raw, body: JSON.parse(raw) as Record<string, unknown> })
              const reply = replies[Math.min(asked.length, replies.length) - 1]
              if (reply === "hang up") request.socket.destroy()
              else if (reply !== undefined) response.writeHead(reply.status).end(reply.body)
            })
          })
          server.listen(0, "127.0.0.1", () => {
            const { port } = server.address() as AddressInfo
            resolve({
              url: `http://127.0.0.1:${port}/init`,
              asked,
              close: () => void server.close().closeAllConnections()
            })
          })
        })
    ),
    ({ close }) => Effect.sync(close)
  )

export const isSigned = ({ headers, raw }: ReceivedRequest, secret: string): boolean => {
  const [, t = "", v1 = ""] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["x-vendor-webhook-signature"])) ?? []
  return v1 === createHmac("sha256", secret).update(`${t}.${raw}`).digest("hex")
}
