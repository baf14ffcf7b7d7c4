import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { createSocket } from "node:dgram"
import { Resolver } from "node:dns/promises"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo, Socket } from "node:net"
import { vi } from "vitest"
import { readAllowed } from "../../src/outbound/AllowedPrivate.ts"
import { urlFault, webhookRules } from "../../src/outbound/CustomerUrl.ts"
import { type DialParts, systemParts, type Target } from "../../src/outbound/Dial.ts"
import { makeSafeClient, type SafeRequest } from "../../src/outbound/SafeClient.ts"
import { kindOf } from "../../src/outbound/PublicAddress.ts"
import { hostileNames, hostileUrls, publicUrls } from "./hostileUrls.ts"

const get = (url: string, more: Partial<SafeRequest> = {}): SafeRequest => ({
  method: "GET",
  url,
  headers: [],
  body: undefined,
  timeoutMs: 10_000,
  maxBytes: 1_000,
  ...more
})

/** Sockets that were asked for; none of them goes anywhere. */
const spied = (
  allowed: ReadonlyArray<string> = [],
  answers: ReadonlyMap<string, ReadonlyArray<string>> = new Map()
) => {
  const targets: Array<Target> = []
  const parts: DialParts = {
    allowed: readAllowed(allowed),
    resolve: async (host) => answers.get(host) ?? ["93.184.216.34"],
    open: (target) => {
      targets.push(target)
      const socket = new Socket()
      process.nextTick(() => socket.destroy(Object.assign(new Error("refused"), { code: "ECONNREFUSED" })))
      return socket
    }
  }
  return { parts, targets }
}

function refusing(this: Socket): Socket {
  process.nextTick(() => this.destroy(Object.assign(new Error("refused"), { code: "ECONNREFUSED" })))
  return this
}

/** A name server on loopback: every second answer is a loopback address, and none of them may be kept. */
const rebindingDns = Effect.gen(function* () {
  let asked = 0
  const socket = createSocket("udp4")
  socket.on("message", (query, { address, port }) => {
    const target = asked++ % 2 === 0 ? [93, 184, 216, 34] : [127, 0, 0, 1]
    // RFC 1035 section 4.1: the question as it came, one A record that points at its name.
    const question = query.subarray(12, query.indexOf(0, 12) + 5)
    const header = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...target])
    socket.send(Buffer.concat([header, question, record]), port, address)
  })
  yield* Effect.callback<void>((resume) => void socket.bind(0, "127.0.0.1", () => resume(Effect.void)))
  yield* Effect.addFinalizer(() => Effect.sync(() => void socket.close()))
  const resolver = new Resolver()
  resolver.setServers([`127.0.0.1:${socket.address().port}`])
  return { asked: () => asked, resolver }
})

/** A server on loopback, and what it was asked. */
const serving = (answer: (request: IncomingMessage, response: ServerResponse) => void) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<{ readonly port: number; readonly close: () => void }>((resolve) => {
          const server = createServer(answer).listen(0, "127.0.0.1", () =>
            resolve({
              port: (server.address() as AddressInfo).port,
              close: () => {
                server.closeAllConnections()
                server.close()
              }
            })
          )
        })
    ),
    ({ close }) => Effect.sync(close)
  )

const loopback = makeSafeClient(systemParts(readAllowed(["127.0.0.0/8"])))

describe("SafeHttp and hostile addresses", () => {
  it.effect(`opens no socket for ${hostileUrls.length} of them, and saves none that can be told before`, () =>
    Effect.gen(function* () {
      assert.isAtLeast(new Set(hostileUrls).size, 150)
      const { parts, targets } = spied(
        [],
        new Map([...hostileNames, ["localhost", ["127.0.0.1"]], ["db", ["10.0.0.1"]]])
      )
      const { fetch, request } = yield* makeSafeClient(parts)
      const resolvedOnly = new Set(hostileNames.map(([name]) => `https://${name}/`))
      for (const url of hostileUrls) {
        const error = yield* Effect.flip(request(get(url)))
        assert.include(["InvalidRequest", "Forbidden", "Unresolved"], error.reason, url)
        assert.notInclude(error.message, "127.0.0.1")
        if (!resolvedOnly.has(url)) assert.isString(urlFault(url, webhookRules, parts.allowed), url)
        const streamed = yield* Effect.exit(
          Effect.tryPromise((signal) => fetch(url, { method: "POST", headers: {}, body: "{}", signal }))
        )
        assert.isTrue(Exit.isFailure(streamed), url)
      }
      assert.deepStrictEqual(targets, [])
    })
  )

  it.effect(`refuses none of ${publicUrls.length} public ones and connects to public addresses only`, () =>
    Effect.gen(function* () {
      assert.isAtLeast(publicUrls.length, 40)
      const { parts, targets } = spied()
      const { request } = yield* makeSafeClient(parts)
      for (const url of publicUrls) {
        assert.isUndefined(urlFault(url, webhookRules, parts.allowed), url)
        const before = targets.length
        const error = yield* Effect.flip(request(get(url)))
        assert.strictEqual(error.reason, "Unreachable", url)
        assert.strictEqual(targets.length, before + 1, url)
      }
      for (const { address } of targets) assert.strictEqual(kindOf(address), "public", address)
    })
  )

  it.effect("connects to the address it checked though the name means another one the next time", () =>
    Effect.gen(function* () {
      const { parts, targets } = spied()
      let asked = 0
      const resolve = async () => (asked++ % 2 === 0 ? ["93.184.216.34"] : ["127.0.0.1"])
      const { request } = yield* makeSafeClient({ ...parts, resolve })
      const reasons: Array<string> = []
      for (let i = 0; i < 10; i++)
        reasons.push((yield* Effect.flip(request(get("https://rebind.example.com/")))).reason)
      assert.strictEqual(asked, 10)
      assert.deepStrictEqual(reasons.slice(0, 2), ["Unreachable", "Forbidden"])
      assert.deepStrictEqual([...new Set(targets.map(({ address }) => address))], ["93.184.216.34"])
      assert.strictEqual(targets.length, 5)
    })
  )

  it.live("is not led astray by a name server that rebinds", () =>
    Effect.gen(function* () {
      const { asked, resolver } = yield* rebindingDns
      const { parts, targets } = spied()
      const { fetch, request } = yield* makeSafeClient({ ...parts, resolve: (host) => resolver.resolve4(host) })
      const post = (signal: AbortSignal) =>
        fetch("http://rebind.example.com/v1", { method: "POST", headers: {}, body: "{}", signal })
      for (let i = 0; i < 10; i++) {
        yield* Effect.flip(request(get("https://rebind.example.com/")))
        yield* Effect.exit(Effect.tryPromise(post))
      }
      assert.strictEqual(asked(), 20)
      assert.strictEqual(targets.length, 10)
      assert.isTrue(targets.every(({ address }) => address === "93.184.216.34"))
    })
  )

  it.effect("keeps the name for the certificate and tries the next address", () =>
    Effect.gen(function* () {
      const { parts, targets } = spied(
        [],
        new Map([["two.example.com", ["2606:4700::1", "2606:4700::2", "93.184.216.34"]]])
      )
      const { request } = yield* makeSafeClient(parts)
      yield* Effect.flip(request(get("https://two.example.com:444/")))
      assert.deepStrictEqual(
        targets,
        ["2606:4700::1", "93.184.216.34", "2606:4700::2"].map((address) => ({
          address,
          port: 444,
          tlsHost: "two.example.com"
        }))
      )
    })
  )

  it.effect("opens what the self-hoster allows, and no more", () =>
    Effect.gen(function* () {
      const names = new Map([
        ["db", ["10.0.0.5"]],
        ["other", ["10.9.0.5"]],
        ["llm", ["192.168.7.7"]],
        ["metadata.google.internal", ["169.254.169.254"]]
      ])
      const { parts, targets } = spied(["10.0.0.0/16", "fd00::/8", "llm"], names)
      const { request } = yield* makeSafeClient(parts)
      for (const host of ["10.0.0.1", "db", "llm", "[fd00::1]", "[::ffff:10.0.0.1]"]) {
        assert.isUndefined(
          urlFault(`http://${host}/`, { schemes: ["https:"], queryAllowed: false }, parts.allowed),
          host
        )
        assert.strictEqual((yield* Effect.flip(request(get(`http://${host}/`)))).reason, "Unreachable", host)
      }
      const opened = targets.length
      for (const host of ["10.1.0.1", "other", "192.168.7.7", "[fe80::1]", "metadata.google.internal", "127.0.0.1"]) {
        assert.strictEqual((yield* Effect.flip(request(get(`http://${host}/`)))).reason, "Forbidden", host)
      }
      assert.strictEqual(opened, 5)
      assert.strictEqual(targets.length, opened)
      assert.isString(urlFault("http://metadata.google.internal/", webhookRules, parts.allowed))
    })
  )
})

describe("SafeHttp and the system's own sockets", () => {
  it.live("connects none of them where nothing has to be resolved", () =>
    Effect.gen(function* () {
      const connect = yield* Effect.acquireRelease(
        Effect.sync(() => vi.spyOn(Socket.prototype, "connect").mockImplementation(refusing)),
        (spy) => Effect.sync(() => spy.mockRestore())
      )
      const { request } = yield* makeSafeClient(systemParts(readAllowed([])))
      const named = new Set(hostileNames.map(([name]) => `https://${name}/`))
      for (const url of hostileUrls) {
        if (!named.has(url)) yield* Effect.flip(request(get(url)))
      }
      assert.strictEqual(connect.mock.calls.length, 0)
      // The spy does see a connection.
      assert.strictEqual((yield* Effect.flip(request(get("http://8.8.8.8/")))).reason, "Unreachable")
      assert.strictEqual(connect.mock.calls.length, 1)
    })
  )
})

describe("SafeHttp and a server", () => {
  it.live("sends what it is given and returns the answer", () =>
    Effect.gen(function* () {
      let seen: IncomingMessage["headers"] = {}
      const { port } = yield* serving((request, response) => {
        seen = request.headers
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          response.writeHead(207, { "x-one": "1", "set-cookie": ["a=1", "b=2"] })
          response.end(`${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`)
        })
      })
      const { request } = yield* loopback
      const answer = yield* request(
        get(`http://127.0.0.1:${port}/a?b=c#d`, { method: "PATCH", headers: [["X-Key", "k"]], body: "böd" })
      )
      assert.strictEqual(answer.status, 207)
      assert.strictEqual(Buffer.from(answer.body).toString(), "PATCH /a?b=c böd")
      assert.strictEqual(answer.headers["x-one"], "1")
      assert.strictEqual(answer.headers["set-cookie"], "a=1, b=2")
      assert.isFalse(answer.truncated)
      assert.deepInclude(seen, { host: `127.0.0.1:${port}`, "x-key": "k", "content-length": "4", connection: "close" })
    })
  )

  it.live("follows no redirect", () =>
    Effect.gen(function* () {
      let asked = 0
      const { port } = yield* serving((_request, response) => {
        asked++
        response.writeHead(302, { location: "http://169.254.169.254/latest/" }).end("moved")
      })
      const answer = yield* (yield* loopback).request(get(`http://127.0.0.1:${port}/`))
      assert.deepStrictEqual(
        [answer.status, answer.headers["location"], asked],
        [302, "http://169.254.169.254/latest/", 1]
      )
    })
  )

  it.live("reads no more than it may", () =>
    Effect.gen(function* () {
      const { port } = yield* serving((request, response) => {
        if (request.url === "/exact") return response.end("x".repeat(1_000))
        const pour = (): void =>
          void (response.write("x".repeat(60_000)) ? setImmediate(pour) : response.once("drain", pour))
        request.socket.once("close", () => response.destroy())
        pour()
        return undefined
      })
      const { request } = yield* loopback
      const endless = yield* request(get(`http://127.0.0.1:${port}/`))
      assert.deepStrictEqual([endless.body.length, endless.truncated], [1_000, true])
      const exact = yield* request(get(`http://127.0.0.1:${port}/exact`))
      assert.deepStrictEqual([exact.body.length, exact.truncated], [1_000, false])
    })
  )

  it.live("is bounded in time, also within the answer", () =>
    Effect.gen(function* () {
      const { port } = yield* serving((request, response) => {
        if (request.url === "/half") response.write("half")
      })
      const { request } = yield* loopback
      for (const path of ["/none", "/half"]) {
        const error = yield* Effect.flip(request(get(`http://127.0.0.1:${port}${path}`, { timeoutMs: 100 })))
        assert.strictEqual(error.reason, "Timeout", path)
      }
      const { parts } = spied()
      const deaf = yield* makeSafeClient({ ...parts, resolve: () => new Promise(() => {}) })
      assert.strictEqual(
        (yield* Effect.flip(deaf.request(get("https://example.com/", { timeoutMs: 50 })))).reason,
        "Timeout"
      )
    })
  )

  it.live("tells a broken connection and refuses what breaks the framing", () =>
    Effect.gen(function* () {
      const { port } = yield* serving((request, response) => {
        if (request.url === "/mid")
          response.writeHead(200, { "content-length": "50" }).write("some", () => response.destroy())
        else request.socket.destroy()
      })
      const { request } = yield* loopback
      const url = `http://127.0.0.1:${port}`
      for (const path of ["/", "/mid"]) {
        assert.strictEqual((yield* Effect.flip(request(get(url + path)))).reason, "BrokenOff", path)
      }
      const wrong: ReadonlyArray<Partial<SafeRequest>> = [
        { headers: [["Host", "other"]] },
        { headers: [["Transfer-Encoding", "chunked"]] },
        { headers: [["X-A", "b\r\nX-C: d"]] },
        { headers: [["bad name", "x"]] },
        { method: "GE T" }
      ]
      for (const more of wrong) {
        assert.strictEqual((yield* Effect.flip(request(get(url, more)))).reason, "InvalidRequest", JSON.stringify(more))
      }
    })
  )

  it.live("cuts the connection when nobody waits any more", () =>
    Effect.gen(function* () {
      const over = Promise.withResolvers<void>()
      const there = Promise.withResolvers<void>()
      const { port } = yield* serving((request) => {
        request.socket.once("close", () => over.resolve())
        there.resolve()
      })
      const fiber = yield* Effect.forkChild((yield* loopback).request(get(`http://127.0.0.1:${port}/`)))
      yield* Effect.promise(() => there.promise)
      yield* Fiber.interrupt(fiber)
      yield* Effect.promise(() => over.promise)
    })
  )

  it.live("streams, keeps a connection for the next request, and gets over one that was closed meanwhile", () =>
    Effect.gen(function* () {
      const sockets = new Set<unknown>()
      const { port } = yield* serving((request, response) => {
        sockets.add(request.socket)
        response.write("one ")
        setImmediate(() => response.end("two"))
      })
      const { fetch } = yield* loopback
      const ask = Effect.promise(async () => {
        const init = { method: "POST", headers: { "x-a": "b" }, body: "{}", signal: new AbortController().signal }
        const { body, ok } = await fetch(`http://127.0.0.1:${port}/`, init)
        return [ok, await new Response(body).text()]
      })
      assert.deepStrictEqual(yield* ask, [true, "one two"])
      assert.deepStrictEqual(yield* ask, [true, "one two"])
      assert.strictEqual(sockets.size, 1)
      for (const socket of sockets) (socket as Socket).destroy()
      assert.deepStrictEqual(yield* ask, [true, "one two"])
    })
  )
})
