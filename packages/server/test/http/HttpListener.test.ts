import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { connect, type AddressInfo } from "node:net"
import { HttpListener, signalling } from "../../src/http/HttpListener.ts"

/** What comes back on a bare socket, until it closes. */
const ask = (port: number, request: string) =>
  Effect.promise(async () => {
    const socket = connect(port, "127.0.0.1", () => socket.write(request))
    let text = ""
    socket.on("data", (chunk) => (text += String(chunk)))
    await once(socket, "close")
    return text
  })

const upgrade = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n`
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`

describe("HttpListener", () => {
  it.live("gives signalling to its handlers, the rest to the framework, and 503 while nobody handles", () =>
    Effect.gen(function* () {
      const listener = yield* HttpListener
      listener.server.on("request", (_request, response) => response.end("framework"))
      listener.server.on("upgrade", (_request, socket) => socket.end("framework"))
      yield* Effect.acquireRelease(
        Effect.promise(() => once(listener.server.listen(0, "127.0.0.1"), "listening")),
        () => Effect.sync(() => void listener.server.close())
      )
      const { port } = listener.server.address() as AddressInfo
      const refused = yield* ask(port, upgrade("/rtc?access_token=x"))
      assert.match(refused, /^HTTP\/1\.1 503 /)
      assert.strictEqual((JSON.parse(refused.split("\r\n\r\n")[1] ?? "") as { status: number }).status, 503)
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* listener.serve({
            paths: signalling,
            upgrade: (request, socket) => {
              if (request.url === "/rtc?throw") throw new Error("a handler's bug")
              socket.end("taken", () => socket.destroy())
              return true
            },
            validate: (_request, response) => response.end("valid") !== undefined
          })
          assert.strictEqual(yield* ask(port, upgrade("/rtc?access_token=x")), "taken")
          assert.strictEqual(yield* ask(port, upgrade("/rtc/v1")), "taken")
          assert.strictEqual(yield* ask(port, upgrade("/v1/tts/live")), "framework")
          assert.strictEqual(yield* ask(port, upgrade("/rtc?throw")), "")
          assert.include(yield* ask(port, get("/rtc/v1/validate?access_token=x")), "valid")
          assert.include(yield* ask(port, get("/rtcx/validate")), "framework")
        })
      )
      assert.match(yield* ask(port, upgrade("/rtc")), /^HTTP\/1\.1 503 /)
    }).pipe(Effect.provide(HttpListener.layer))
  )

  it.live("answers 408 to a body that stops coming, and waits for an answer that takes long", () =>
    Effect.gen(function* () {
      const listener = yield* HttpListener
      listener.server.on("request", (request, response) => {
        request.resume()
        request.on("end", () => setTimeout(() => response.end("whole"), 300))
      })
      yield* Effect.acquireRelease(
        Effect.promise(() => once(listener.server.listen(0, "127.0.0.1"), "listening")),
        () => Effect.sync(() => void listener.server.close())
      )
      const { port } = listener.server.address() as AddressInfo
      const head = "POST /v1/tts HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 10\r\n\r\n"
      assert.match(yield* ask(port, `${head}12345`), /^HTTP\/1\.1 408 /)
      assert.include(yield* ask(port, `${head}1234567890`), "whole")
    }).pipe(Effect.provide(HttpListener.layerWith({ bodyIdleMs: 100 })))
  )
})
