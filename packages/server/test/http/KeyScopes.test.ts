// What a key with one scope may do: every operation of the description is asked with each of the four, and answers 403 to all
// but one. An operation that this file does not know fails it.
import { assert, layer } from "@effect/vitest"
import { type KeyScope, keyScopes } from "@parley/contract/ApiKey"
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { Effect, Redacted } from "effect"
import type { AddressInfo } from "node:net"
import { WebSocket } from "ws"
import { HttpListener } from "../../src/http/HttpListener.ts"
import { serviceWith } from "../../src/testing/TestService.ts"

/** What is no GET that only reads. */
const others: Readonly<Record<Exclude<KeyScope, "read">, ReadonlyArray<string>>> = {
  manage: [
    ...["create", "update", "delete", "updateConfig", "publish", "duplicate"].map((what) =>
      what === "updateConfig" ? "agents.updateAgentConfig" : `agents.${what}Agent`
    ),
    ...["create", "update", "delete", "attach", "detach"].map((what) => `agentTests.${what}Test`),
    "agentTests.runTests",
    "sessions.analyseSessionAgain",
    "sessions.eraseSession",
    "endUsers.eraseEndUser",
    "endUsers.eraseCaller",
    ...["create", "update", "delete", "test"].map((what) => `tools.${what}Tool`),
    ...["create", "update", "delete"].map((what) => `mcpServers.${what}McpServer`),
    ...["create", "update", "delete"].map((what) => `knowledgeSources.${what}KnowledgeSource`),
    ...["create", "update", "release"].map((what) => `phoneNumbers.${what}PhoneNumber`),
    "phoneNumbers.replaceSipConfig",
    ...["create", "update", "delete"].map((what) => `models.${what}Model`),
    "webhooks.resendWebhookDelivery",
    ...["list", "create", "update", "rotate", "revoke"].map((what) =>
      what === "list" ? "keys.listKeys" : `keys.${what}Key`
    )
  ],
  speak: ["speech.speak", "speech.speakWithTimestamps", "speech.transcribe", "speech.designVoice"],
  call: [
    "sessionStart.createSession",
    "sessions.endSession",
    "phoneCalls.createPhoneCall",
    "agents.createPreviewSession"
  ]
}
const scopeOf = (id: string, method: string): KeyScope | undefined =>
  keyScopes.find((scope) => scope !== "read" && others[scope].includes(id)) ?? (method === "GET" ? "read" : undefined)

const lacks = /lacks the scope (\w+)/

const keyed = Effect.gen(function* () {
  const { server } = yield* HttpListener
  const keys = yield* ApiKeys
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const ask = (method: string, path: string, headers: Record<string, string> = {}) =>
    Effect.promise(async () => {
      const response = await fetch(`http://${host}${path}`, { method, headers })
      return { status: response.status, text: await response.text() }
    })
  const make = (scopes: ReadonlyArray<KeyScope>) =>
    Effect.map(keys.create("scopes", { scopes }), ({ key }) => Redacted.value(key))
  return { ask, host, make }
})

/** The status that a handshake is answered with, or `open`, or what is said after the first message. */
const handshake = (address: string, headers: Record<string, string>, first?: string) =>
  Effect.callback<string>((resume) => {
    const socket = new WebSocket(address, { headers })
    let said = ""
    const done = (what: string): void => {
      resume(Effect.succeed(what))
      socket.terminate()
    }
    socket.on("unexpected-response", (_request, response) => {
      response.on("data", (chunk) => (said += String(chunk)))
      response.on("end", () => done(`${response.statusCode} ${said}`))
    })
    socket.on("open", () => (first === undefined ? done("open") : socket.send(first)))
    socket.on("message", (data) => (said += String(data as Buffer)))
    socket.on("close", (code) => done(`${code} ${said}`))
    socket.on("error", () => undefined)
  })

layer(serviceWith(), { excludeTestServices: true, timeout: "60 seconds" })("KeyScopes", (it) => {
  it.effect("hold for every operation of the main API", () =>
    Effect.gen(function* () {
      const { ask, make } = yield* keyed
      const { text } = yield* ask("GET", "/openapi.json")
      const { paths } = JSON.parse(text) as {
        paths: Record<string, Record<string, { operationId: string; security?: ReadonlyArray<unknown> }>>
      }
      const keys = yield* Effect.all(keyScopes.map((scope) => Effect.map(make([scope]), (key) => ({ scope, key }))))
      let asked = 0
      for (const [path, methods] of Object.entries(paths)) {
        for (const [method, { operationId, security = [] }] of Object.entries(methods)) {
          if (security.length === 0) continue
          const wanted = scopeOf(operationId, method.toUpperCase())
          assert.isDefined(wanted, `${operationId} is not known here`)
          for (const { key, scope } of keys) {
            const answer = yield* ask(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, "none"), {
              authorization: `Bearer ${key}`
            })
            asked += 1
            assert.strictEqual(
              answer.status === 403 ? lacks.exec(answer.text)?.[1] : undefined,
              scope === wanted ? undefined : wanted,
              `${operationId} with ${scope}: ${answer.status} ${answer.text}`
            )
            assert.notStrictEqual(answer.status, 401)
          }
        }
      }
      assert.isAbove(asked, 250)
    })
  )

  it.effect("hold for the compatible APIs", () =>
    Effect.gen(function* () {
      const { ask, make } = yield* keyed
      const all = yield* make(["read", "manage", "call"])
      const speak = yield* make(["speak"])
      const routes = [
        ["POST", "/compat/api/v1/audio/speech"],
        ["POST", "/compat/api/v1/audio/transcriptions"],
        ["POST", "/compat/elevenlabs/v1/text-to-speech/v"],
        ["POST", "/compat/elevenlabs/v1/text-to-speech/v/stream"],
        ["POST", "/compat/elevenlabs/v1/text-to-speech/v/with-timestamps"],
        ["POST", "/compat/elevenlabs/v1/text-to-speech/v/stream/with-timestamps"],
        ["POST", "/compat/elevenlabs/v1/speech-to-text"],
        ["GET", "/compat/elevenlabs/v1/voices"],
        ["GET", "/compat/elevenlabs/v2/voices"],
        ["GET", "/compat/elevenlabs/v1/voices/v"],
        ["GET", "/compat/elevenlabs/v1/models"],
        ["GET", "/compat/elevenlabs/v1/user"]
      ] as const
      for (const [method, path] of routes) {
        const send = (key: string) => ask(method, path, { authorization: `Bearer ${key}`, "xi-api-key": key })
        const refused = yield* send(all)
        assert.deepStrictEqual([refused.status, lacks.exec(refused.text)?.[1]], [403, "speak"], path)
        assert.notInclude([401, 403], (yield* send(speak)).status, path)
      }
    })
  )

  it.effect("hold for every speech socket, before the upgrade or with the first message", () =>
    Effect.gen(function* () {
      const { host, make } = yield* keyed
      const all = yield* make(["read", "manage", "call"])
      const speak = yield* make(["speak"])
      const streamInput = `ws://${host}/compat/elevenlabs/v1/text-to-speech/v/stream-input`
      const sockets = [
        `ws://${host}/v1/tts/live`,
        `ws://${host}/v1/tts/live/with-timestamp`,
        `ws://${host}/compat/elevenlabs/v1/speech-to-text/realtime`,
        streamInput
      ]
      for (const address of sockets) {
        const open = (key: string) => handshake(address, { authorization: `Bearer ${key}`, "xi-api-key": key })
        assert.match(yield* open(all), /^403 .*lacks the scope speak/, address)
        assert.strictEqual(yield* open(speak), "open", address)
      }
      assert.match(
        yield* handshake(streamInput, {}, JSON.stringify({ text: " ", "xi-api-key": all })),
        /^1008 .*lacks the scope speak/
      )
    })
  )

  it.effect("end with the key's expiry, which is 401", () =>
    Effect.gen(function* () {
      const { ask } = yield* keyed
      const keys = yield* ApiKeys
      const statusOf = (expires_at: string) =>
        Effect.flatMap(keys.create("scopes", { expires_at }), ({ key }) =>
          Effect.map(
            ask("GET", "/v1/agent/agents", { authorization: `Bearer ${Redacted.value(key)}` }),
            ({ status }) => status
          )
        )
      assert.strictEqual(yield* statusOf(new Date(Date.now() - 1000).toISOString()), 401)
      assert.strictEqual(yield* statusOf(new Date(Date.now() + 3_600_000).toISOString()), 200)
    })
  )
})
