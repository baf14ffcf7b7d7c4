import { NodeHttpServer, NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { encode, ExtData } from "@msgpack/msgpack"
import { MainApi } from "@parley/contract/MainApi/MainApi"
import { ModelsApi } from "@parley/contract/MainApi/Models"
import { WalletApi } from "@parley/contract/MainApi/Wallet"
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { Billing } from "@parley/workspace/billing/Billing"
import { unit } from "@parley/workspace/billing/Money"
import { Platform } from "@parley/workspace/Platform"
import { fakeRecognition, fakeSynthesis, fakeUploads } from "@parley/workspace/testing/FakeRecordings"
import * as TestDatabase from "@parley/workspace/testing/TestDatabase"
import { VoiceTraining } from "@parley/workspace/voices/VoiceTraining"
import * as Workspace from "@parley/workspace/Workspace"
import { Workspaces } from "@parley/workspace/identity/Workspaces"
import { Effect, Layer, Logger, Redacted, type Types } from "effect"
import { HttpRouter, HttpServer, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { createServer } from "node:http"
import { KeyCheck } from "../../src/http/KeyCheck.ts"
import { Settings } from "../../src/Settings.ts"
import { testConfig } from "../../src/testing/testConfig.ts"
import * as Authorization from "../../src/http/Authorization.ts"
import { errorEnvelope } from "../../src/http/ErrorEnvelope.ts"
import * as ModelHandlers from "../../src/http/ModelHandlers.ts"
import * as Validation from "../../src/http/Validation.ts"
import * as WalletHandlers from "../../src/http/WalletHandlers.ts"

const platform = Layer.succeed(Platform, {
  voices: new Set<string>(),
  asrModels: ["vendor:transcribe-1"],
  llmModels: ["default"],
  allowedPrivate: [],
  cloning: false,
  trialBalance: 5n * unit
})

/** The two groups alone: the rest of the main API is not asked for. */
class TheseApis extends HttpApi.make("parley").add(ModelsApi).add(WalletApi).annotateMerge(MainApi.annotations) {}

const storage = VoiceTraining.layer.pipe(
  Layer.provide([fakeUploads, fakeRecognition, fakeSynthesis]),
  Layer.provideMerge(Workspace.layer(undefined)),
  Layer.provideMerge(Layer.mergeAll(platform, TestDatabase.layer))
)
const api = HttpApiBuilder.layer(TheseApis).pipe(
  Layer.provide([ModelHandlers.layer, WalletHandlers.layer]),
  Layer.provide([Authorization.layer, Validation.layer]),
  Layer.provide(KeyCheck.layer),
  Layer.provide(Layer.succeed(Settings, testConfig("unused")))
)
const around = HttpRouter.middleware(
  (route): Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled, HttpServerRequest.HttpServerRequest> =>
    errorEnvelope(route),
  { global: true }
)
const live = HttpRouter.serve(Layer.mergeAll(api, around), { disableLogger: true, disableListenLog: true }).pipe(
  Layer.provideMerge(
    NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: "100 millis" })
  ),
  Layer.provideMerge(storage),
  Layer.provide(NodeServices.layer),
  Layer.provide(Logger.layer([]))
)

type Body = string | FormData | Blob | Uint8Array<ArrayBuffer>

interface Answer {
  readonly status: number
  readonly type: string
  readonly bytes: Buffer
  readonly json: Record<string, unknown>
}

const caller = Effect.fnUntraced(function* (workspace: string) {
  const { address } = yield* HttpServer.HttpServer
  const key = Redacted.value((yield* (yield* ApiKeys).create(workspace)).key)
  const id = yield* (yield* Workspaces).ensure(workspace)
  const send = (method: string, path: string, body?: Body, type?: string, signal?: AbortSignal) =>
    Effect.promise(async (): Promise<Answer> => {
      const port = "port" in address ? address.port : 0
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(type === undefined ? {} : { "content-type": type }) },
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal })
      })
      const bytes = Buffer.from(await response.arrayBuffer())
      const is = response.headers.get("content-type") ?? ""
      return {
        status: response.status,
        type: is,
        bytes,
        json: is.startsWith("application/json") ? (JSON.parse(bytes.toString()) as Record<string, unknown>) : {}
      }
    })
  return { id, send }
})

const sound = (text: string) => new Uint8Array(Buffer.from(text))
const base64 = (text: string) => Buffer.from(text).toString("base64")
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)
type Value = string | Blob
const form = (fields: Record<string, Value | ReadonlyArray<Value> | undefined>): FormData => {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    for (const one of value === undefined
      ? []
      : Array.isArray(value)
        ? (value as ReadonlyArray<Value>)
        : [value as Value]) {
      data.append(name, one)
    }
  }
  return data
}
const wav = (text: string, name = "voice.wav") => new File([text], name, { type: "audio/wav" })
const plain = { type: "tts", title: "Ada", train_mode: "fast" }
const json = (value: unknown): readonly [string, string] => [JSON.stringify(value), "application/json"]
const packed = (value: unknown): readonly [Uint8Array<ArrayBuffer>, string] => [
  new Uint8Array(encode(value)),
  "application/msgpack"
]

layer(live, { excludeTestServices: true })("ModelHandlers", (it) => {
  it.effect("makes the same model of four content types", () =>
    Effect.gen(function* () {
      const { id, send } = yield* caller("four")
      const bodies: ReadonlyArray<readonly [Body, string | undefined]> = [
        [
          form({
            ...plain,
            voices: [wav("one"), wav("second", "näme.wav")],
            texts: "said one,said two",
            tags: "calm,deep",
            enhance_audio_quality: "False",
            cover_image: new File([png], "cover.png", { type: "image/png" })
          }),
          undefined
        ],
        [
          new URLSearchParams([
            ...Object.entries(plain),
            ["voices", base64("one")],
            ["voices", base64("second")],
            ["texts", "said one"],
            ["texts", "said two"],
            ["tags", "calm"],
            ["tags", "deep"],
            ["generate_sample", "true"],
            ["cover_image", png.toString("base64")]
          ]).toString(),
          "application/x-www-form-urlencoded"
        ],
        json({
          ...plain,
          voices: [base64("one"), `data:audio/wav;base64,${base64("second")}`],
          texts: ["said one", "said two"],
          tags: ["calm", "deep"],
          cover_image: png.toString("base64"),
          description: null
        }),
        packed({
          ...plain,
          voices: [sound("one"), sound("second")],
          texts: ["said one", "said two"],
          tags: ["calm", "deep"],
          cover_image: png,
          enhance_audio_quality: true
        })
      ]
      for (const [body, type] of bodies) {
        const made = yield* send("POST", "/model", body, type)
        assert.strictEqual(made.status, 201, made.bytes.toString())
        assert.deepInclude(made.json, {
          type: "tts",
          title: "Ada",
          description: "",
          train_mode: "fast",
          state: "trained",
          visibility: "private",
          tags: ["calm", "deep"],
          default_text: "said one",
          source: null,
          like_count: 0,
          author: { _id: id, nickname: "four", avatar: "" }
        })
        assert.strictEqual((made.json["quality"] as { audios: Array<unknown> }).audios.length, 2)
        const cover = yield* send("GET", String(made.json["cover_image"]))
        assert.deepStrictEqual([cover.status, cover.type, cover.bytes.equals(png)], [200, "image/png", true])
      }
      const spoken = yield* send("POST", "/model", form({ ...plain, voices: wav("one"), generate_sample: "true" }))
      const [sample] = spoken.json["samples"] as ReadonlyArray<{ audio: string }>
      const played = yield* send("GET", sample?.audio ?? "")
      assert.deepStrictEqual([played.type, played.bytes.toString()], ["audio/mpeg", "sound of wav of one"])
      const one = yield* send("POST", "/model", ...packed({ ...plain, voices: sound("single"), texts: "a, b" }))
      assert.deepStrictEqual([one.status, one.json["default_text"]], [201, "a, b"])
      const heard = yield* send("POST", "/model", form({ ...plain, voices: wav("hello") }))
      assert.deepStrictEqual([heard.json["default_text"], heard.json["languages"]], ["heard hello", ["en"]])
    })
  )

  it.effect("refuses what is wrong, with the field, and never breaks", () =>
    Effect.gen(function* () {
      const { send } = yield* caller("refusals")
      const good = { ...plain, voices: [base64("one")] }
      const voice = sound("one")
      const deep = (depth: number): unknown => (depth === 0 ? 1 : [deep(depth - 1)])
      const cases: ReadonlyArray<readonly [what: string, status: number, text: string, body: Body, type?: string]> = [
        ["no title", 422, "title", ...json({ ...good, title: undefined })],
        ["null title", 422, "title", ...json({ ...good, title: null })],
        ["number as title", 422, "title", ...json({ ...good, title: 1 })],
        ["empty title", 422, "title", ...json({ ...good, title: "" })],
        ["long title", 422, "title", ...json({ ...good, title: "x".repeat(257) })],
        ["NUL", 422, "title", ...json({ ...good, title: "a\0b" })],
        ["half a surrogate pair", 422, "title", JSON.stringify(good).replace("Ada", "\\ud800"), "application/json"],
        ["NUL in a text", 422, "texts", ...json({ ...good, texts: ["\0"] })],
        ["NUL in a tag", 422, "tags", ...json({ ...good, tags: "a\0" })],
        ["another type", 422, "type", ...json({ ...good, type: "svc" })],
        ["another mode", 422, "train_mode", ...json({ ...good, train_mode: "full" })],
        ["another visibility", 422, "visibility", ...json({ ...good, visibility: "secret" })],
        ["text as flag", 422, "generate_sample", ...json({ ...good, generate_sample: "true" })],
        ["number as tags", 422, "tags", ...json({ ...good, tags: 5 })],
        ["no voices", 422, "voices", ...json(plain)],
        ["null voices", 422, "voices", ...json({ ...plain, voices: null })],
        ["empty voices", 422, "voices", ...json({ ...plain, voices: [] })],
        ["21 voices", 422, "voices", ...json({ ...plain, voices: Array.from({ length: 21 }, () => base64("x")) })],
        ["number as voice", 422, "voices.0", ...json({ ...plain, voices: [7] })],
        ["object as voices", 422, "voices", ...json({ ...plain, voices: { a: 1 } })],
        ["bad base64", 422, "voices.1", ...json({ ...plain, voices: [base64("one"), "not base64!"] })],
        ["more texts than voices", 422, "texts", ...json({ ...good, texts: ["a", "b"] })],
        ["21 texts", 422, "texts", ...json({ ...good, texts: Array.from({ length: 21 }, () => "x") })],
        ["no image", 422, "cover_image", ...json({ ...good, cover_image: base64("<svg/>") })],
        ["silence", 400, "voices[1]: ", ...json({ ...plain, voices: [base64("one"), base64("silent")] })],
        ["no audio", 400, "voices[0]: ", ...json({ ...plain, voices: base64("text") })],
        [
          "a wrong signature",
          400,
          "Invalid voice-design signature",
          ...json({ ...good, voice_design_signatures: "x" })
        ],
        [
          "deep tags",
          400,
          "deeper",
          `{"type":"tts","train_mode":"fast","title":"A","voices":"AAAA","tags":${"[".repeat(1e5)}${"]".repeat(1e5)}}`,
          "application/json"
        ],
        [
          "deep voices",
          400,
          "deeper",
          `{"type":"tts","train_mode":"fast","title":"A","voices":${"[".repeat(1e5)}${"]".repeat(1e5)}}`,
          "application/json"
        ],
        [
          "deep title",
          400,
          "deeper",
          `{"type":"tts","train_mode":"fast","voices":"AAAA","title":${'{"a":'.repeat(1e5)}1${"}".repeat(1e5)}}`,
          "application/json"
        ],
        [
          "a prototype in JSON",
          422,
          "title",
          '{"__proto__":{"title":"x","type":"tts"},"type":"tts","train_mode":"fast","voices":"AAAA"}',
          "application/json"
        ],
        [
          "a prototype in a form",
          422,
          "title",
          "__proto__=x&__proto__=y&type=tts&train_mode=fast&voices=AAAA",
          "application/x-www-form-urlencoded"
        ],
        ["a million fields", 400, "Too many form fields", "a&".repeat(1e6), "application/x-www-form-urlencoded"],
        ["cut JSON", 400, "Malformed JSON", '{"type":"tts"', "application/json"],
        ["a list", 400, "object", "[]", "application/json"],
        ["null", 400, "object", "null", "application/json"],
        ["no UTF-8", 400, "Malformed JSON", new Uint8Array([0x7b, 0x22, 0xff, 0x22]), "application/json"],
        ["form as JSON", 400, "Malformed JSON", "type=tts", "application/json"],
        ["JSON as form", 422, "type: field required", JSON.stringify(good), "application/x-www-form-urlencoded"],
        ["JSON as multipart", 400, "Malformed form", JSON.stringify(good), "multipart/form-data; boundary=x"],
        ["multipart without boundary", 400, "Malformed form", "x", "multipart/form-data"],
        ["JSON as MessagePack", 400, "M", JSON.stringify(good), "application/msgpack"],
        ["text", 415, "content type", "hello", "text/plain"],
        ["audio", 415, "content type", "RIFF", "audio/wav"],
        [
          "cut MessagePack",
          400,
          "Malformed MessagePack",
          packed({ ...plain, voices: voice })[0].slice(0, -4),
          "application/msgpack"
        ],
        [
          "a huge length",
          400,
          "Malformed MessagePack",
          new Uint8Array([0xdf, 0xff, 0xff, 0xff, 0xff]),
          "application/msgpack"
        ],
        [
          "a huge text",
          400,
          "Malformed MessagePack",
          new Uint8Array([0x81, 0xdb, 0xff, 0xff, 0xff, 0xff]),
          "application/msgpack"
        ],
        ["deep MessagePack", 400, "Malformed MessagePack", ...packed({ ...plain, voices: voice, tags: deep(90) })],
        [
          "an extension",
          400,
          "Malformed MessagePack",
          ...packed({ ...plain, voices: new ExtData(5, new Uint8Array(3)) })
        ],
        ["a date", 400, "Malformed MessagePack", ...packed({ ...plain, title: new Date(0) })],
        // {"__proto__": {}}
        [
          "a prototype",
          400,
          "Malformed MessagePack",
          new Uint8Array([0x81, 0xa9, ...Buffer.from("__proto__"), 0x80]),
          "application/msgpack"
        ],
        ["base64 in MessagePack that is none", 422, "voices", ...packed({ ...plain, voices: "?" })],
        ["a MessagePack list", 400, "object", ...packed([1])],
        ["no file", 422, "voices", form({ ...plain, voices: "text" })],
        ["no voices in a form", 422, "voices", form(plain)],
        ["no title in a form", 422, "title", form({ ...plain, title: undefined, voices: wav("one") })],
        ["a file as title", 422, "title", form({ ...plain, title: wav("one"), voices: wav("one") })],
        ["21 files", 422, "voices", form({ ...plain, voices: Array.from({ length: 21 }, () => wav("x")) })],
        ["an empty file", 400, "voices[0]: ", form({ ...plain, voices: wav("") })],
        ["no flag", 422, "generate_sample", form({ ...plain, voices: wav("one"), generate_sample: "maybe" })],
        ["two covers", 422, "cover_image", form({ ...plain, voices: wav("one"), cover_image: [wav("x"), wav("y")] })]
      ]
      for (const [what, status, text, body, type] of cases) {
        const answer = yield* send("POST", "/model", body, type)
        assert.strictEqual(answer.status, status, `${what}: ${answer.bytes.toString()}`)
        assert.include(String(answer.json["message"]), text, what)
        assert.deepStrictEqual(answer.json["status"], status, what)
      }
      const nothing = yield* send("POST", "/model")
      assert.strictEqual(nothing.status, 422)
      const cut = form({ ...plain, voices: wav("one") })
      const whole = Buffer.from(yield* Effect.promise(() => new Response(cut).arrayBuffer()))
      const boundary = whole.subarray(2, whole.indexOf("\r\n")).toString()
      const truncated = yield* send(
        "POST",
        "/model",
        whole.subarray(0, -30),
        `multipart/form-data; boundary=${boundary}`
      )
      assert.strictEqual(truncated.status, 400, truncated.bytes.toString())
      assert.strictEqual((yield* send("GET", "/model?self=true")).json["total"], 0)
    })
  )

  it.effect("refuses more than 100 MiB", () =>
    Effect.gen(function* () {
      const { send } = yield* caller("large")
      const block = new Uint8Array(2 ** 20)
      const body = new Blob(Array.from({ length: 101 }, () => block))
      const asForm = yield* send("POST", "/model", form({ ...plain, voices: new File([body], "v.wav") }))
      assert.strictEqual(asForm.status, 413)
      const asJson = yield* send(
        "POST",
        "/model",
        new Blob(Array.from({ length: 33 }, () => block)),
        "application/json"
      )
      assert.strictEqual(asJson.status, 413)
      const asPack = yield* send("POST", "/model", body, "application/msgpack")
      assert.deepStrictEqual([asPack.status, asPack.json["status"]], [413, 413])
    })
  )

  it.effect("changes, lists and removes, in four content types", () =>
    Effect.gen(function* () {
      const { send } = yield* caller("changes")
      const made = yield* send("POST", "/model", form({ ...plain, voices: wav("one"), tags: ["a", "b"] }))
      const path = `/model/${String(made.json["_id"])}`
      const changes: ReadonlyArray<readonly [Record<string, unknown>, Body, string?]> = [
        [{ title: "One" }, ...json({ title: "One" })],
        [{ title: "One", tags: ["x", "y"] }, form({ tags: "x,y" })],
        [{ visibility: "private" }, "visibility=public", "application/x-www-form-urlencoded"],
        [{ description: "d", title: "Four" }, ...packed({ title: "Four", description: "d" })],
        [{ cover_image: `${path}/cover` }, form({ cover_image: new File([png], "c.png") })],
        [{ description: "", title: "Four" }, ...json({ description: null })]
      ]
      for (const [expected, body, type] of changes) {
        const changed = yield* send("PATCH", path, body, type)
        assert.deepStrictEqual([changed.status, changed.json], [200, { status: "ok" }])
        assert.deepInclude((yield* send("GET", path)).json, expected)
      }
      const refusals: ReadonlyArray<readonly [number, Body, string?]> = [
        [422, ...json({ title: "" })],
        [422, ...json({ visibility: "x" })],
        [422, form({ cover_image: wav("x") })],
        [400, "{", "application/json"],
        [415, "x", "text/plain"]
      ]
      for (const [status, body, type] of refusals) {
        assert.strictEqual((yield* send("PATCH", path, body, type)).status, status)
      }
      const page = yield* send("GET", "/model?self=true&page_size=1&page_number=1&tag=x&tag=q")
      assert.deepInclude(page.json, { total: 1, has_more: false, total_is_exact: true, window_limited: false })
      for (const query of [
        "page_size=0",
        "page_size=101",
        "page_number=0",
        "page_size=a",
        "sort_by=luck",
        "title=%00"
      ]) {
        assert.strictEqual((yield* send("GET", `/model?${query}`)).status, 422, query)
      }
      const other = yield* caller("another")
      for (const attempt of [
        other.send("GET", path),
        other.send("GET", `${path}/cover`),
        other.send("PATCH", path, ...json({ title: "Theirs" })),
        other.send("DELETE", path)
      ]) {
        const refused = yield* attempt
        assert.deepStrictEqual([refused.status, refused.json["status"]], [403, 403])
      }
      const unlisted = yield* send("PATCH", path, ...json({ visibility: "unlist" }))
      assert.strictEqual(unlisted.status, 200)
      assert.strictEqual((yield* other.send("GET", path)).status, 200)
      assert.strictEqual(
        (yield* other.send("PATCH", path, form({ cover_image: new File([png], "c.png") }))).status,
        403
      )
      assert.strictEqual((yield* other.send("GET", "/model")).json["total"], 0)
      const removed = yield* send("DELETE", path)
      assert.deepStrictEqual([removed.status, removed.json], [200, { status: "ok" }])
      for (const method of ["GET", "DELETE"]) assert.strictEqual((yield* send(method, path)).status, 404)
      assert.strictEqual((yield* send("GET", "/model/no%20id")).status, 404)
    })
  )

  it.effect("makes only so many at the same time, and stops when the caller goes", () =>
    Effect.gen(function* () {
      const { send } = yield* caller("crowd")
      const gone = new AbortController()
      const attempt = (recording: string, signal?: AbortSignal) =>
        send("POST", "/model", form({ ...plain, voices: wav(recording) }), undefined, signal)
      const waiting = Array.from({ length: 9 }, () => Effect.runPromise(attempt("endless", gone.signal)))
      // Eight are being made; one of the nine has its answer.
      const refused = yield* Effect.promise(() => Promise.race(waiting))
      assert.deepStrictEqual([refused.status, refused.json["status"]], [503, 503])
      gone.abort()
      yield* Effect.promise(() => Promise.allSettled(waiting))
      let status = 503
      for (let tries = 0; tries < 500 && status === 503; tries++) {
        yield* Effect.sleep("10 millis")
        status = (yield* attempt("hello")).status
      }
      assert.strictEqual(status, 201)
    })
  )

  it.effect("shows the caller's wallet and no other", () =>
    Effect.gen(function* () {
      const { id, send } = yield* caller("wallets")
      const billing = yield* Billing
      yield* billing.credit(id, 10n * unit, "test")
      yield* billing.charge(id, { kind: "tts", model: "s1", bytes: 1 })
      const credit = yield* send("GET", "/wallet/self/api-credit")
      assert.deepInclude(credit.json, {
        user_id: id,
        credit: "14.999985",
        cumulative_top_up: "10",
        has_phone_sha256: false,
        has_free_credit: null
      })
      const checked = yield* send("GET", `/wallet/${id}/api-credit?check_free_credit=true`)
      assert.strictEqual(checked.json["has_free_credit"], true)
      const trial = yield* send("GET", "/wallet/self/package")
      assert.deepInclude(trial.json, { user_id: id, type: "trial", total: 5, balance: 4, has_used_trial: true })
      const usage = yield* send("GET", "/wallet/self/usage?kind=tts&page=1")
      assert.deepInclude(usage.json, { has_more: false, next_cursor: null, total: 1 })
      assert.deepInclude((usage.json["usage"] as ReadonlyArray<object>)[0], { kind: "tts", cost: "0.000015" })
      assert.strictEqual((yield* send("GET", `/wallet/${id}/usage-by-day?days=2`)).json["cost"], "0.000015")
      assert.strictEqual((yield* send("GET", "/wallet/self/usage-by-day?days=0")).status, 422)
      assert.strictEqual((yield* send("GET", "/wallet/self/usage?page=1&cursor=x")).status, 400)
      const { prices } = (yield* send("GET", "/wallet/self/prices")).json
      assert.deepInclude(prices as ReadonlyArray<object>, { name: "agent", amount: "0.06", per: 60, piece: "second" })
      const other = yield* caller("other wallets")
      const mine = ["package", "api-credit", "usage", "usage-by-day", "prices"].map((what) => `/wallet/${id}/${what}`)
      for (const path of [...mine, "/wallet/x%00/package"]) {
        assert.strictEqual((yield* other.send("GET", path)).status, 404)
      }
    })
  )

  it.effect("asks for a key", () =>
    Effect.gen(function* () {
      const { address } = yield* HttpServer.HttpServer
      const port = "port" in address ? address.port : 0
      for (const path of ["/model", "/model/x", "/model/x/cover", "/wallet/self/api-credit"]) {
        const answer = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}${path}`))
        assert.deepStrictEqual([answer.status, answer.headers.get("www-authenticate")], [401, "Bearer"])
      }
    })
  )
})
