import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as OpenAiEmbeddings from "../src/openai/OpenAiEmbeddings.ts"
import * as FakeEmbeddings from "../src/testing/FakeEmbeddings.ts"

/** An endpoint that answers everything with this. */
const answering = (status: number, body: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly baseUrl: string; readonly close: () => void }>((resume) => {
      const server = createServer((request, response) => {
        request.resume().on("end", () => response.writeHead(status).end(body))
      })
      server.listen(0, "127.0.0.1", () =>
        resume(
          Effect.succeed({
            baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/embeddings`,
            close: () => {
              server.closeAllConnections()
              server.close()
            }
          })
        )
      )
    }),
    ({ close }) => Effect.sync(close)
  )

describe("OpenAiEmbeddings", () => {
  it.live("gives each text its vector, in the order asked", () =>
    Effect.gen(function* () {
      const fake = yield* FakeEmbeddings.make([/one/, /two/])
      const { embed } = OpenAiEmbeddings.make({ baseUrl: fake.baseUrl, model: "toy", apiKey: Redacted.make("k") })
      const vectors = yield* embed(["one", "two", "three"])
      assert.deepStrictEqual(
        vectors.map((vector) => vector.indexOf(1)),
        [0, 1, 2]
      )
      assert.deepStrictEqual(yield* embed([]), [])
    })
  )

  it.live("refuses what is no answer to the question", () =>
    Effect.gen(function* () {
      const bodies = [
        "busy",
        "null",
        '{"data":{}}',
        '{"data":[]}',
        '{"data":[{"index":0,"embedding":[1]}]}',
        '{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}',
        '{"data":[{"index":0,"embedding":[1]},{"index":7,"embedding":[1]}]}',
        '{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}',
        '{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":["x"]}]}',
        '{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}',
        '{"data":[null,null]}'
      ]
      for (const body of bodies) {
        const { baseUrl } = yield* answering(200, body)
        const { embed } = OpenAiEmbeddings.make({ baseUrl, model: "toy" })
        assert.strictEqual((yield* Effect.flip(embed(["a", "b"]))).reason, "InvalidOutput", body)
      }
    })
  )

  it.live("says whether it is worth asking again", () =>
    Effect.gen(function* () {
      for (const [status, isRetryable] of [
        [429, true],
        [503, true],
        [401, false],
        [400, false]
      ] as const) {
        const { baseUrl } = yield* answering(status, "{}")
        const failure = yield* Effect.flip(OpenAiEmbeddings.make({ baseUrl, model: "toy" }).embed(["a"]))
        assert.strictEqual(failure.isRetryable, isRetryable)
        assert.notInclude(failure.message, baseUrl)
      }
      const gone = yield* Effect.scoped(answering(200, ""))
      const failure = yield* Effect.flip(OpenAiEmbeddings.make({ baseUrl: gone.baseUrl, model: "toy" }).embed(["a"]))
      assert.strictEqual(failure.reason, "Unavailable")
    })
  )
})
