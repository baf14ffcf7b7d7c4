// An OpenAI-compatible `/embeddings` on loopback that knows a handful of topics: texts of one topic point the same
// way, whatever their words. Misbehaves when told.
import { Effect } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

/** The server, and what was asked of it. */
export interface FakeEmbeddings {
  readonly baseUrl: string
  /** The inputs of each request. */
  readonly requests: ReadonlyArray<ReadonlyArray<string>>
  /** Answers every request with this status from now on; undefined: well. */
  readonly answerWith: (status: number | undefined) => void
}

/** One direction for each pattern, one more for everything else. */
export const make = (topics: ReadonlyArray<RegExp>) =>
  Effect.gen(function* () {
    const requests: Array<ReadonlyArray<string>> = []
    let status: number | undefined
    const server = createServer((request, response) => {
      let text = ""
      request.on("data", (data: Buffer) => (text += data.toString()))
      request.on("end", () => {
        const { input } = JSON.parse(text) as { readonly input: ReadonlyArray<string> }
        requests.push(input)
        if (status !== undefined) return void response.writeHead(status).end("{}")
        // In another order than asked: the index counts.
        const data = input.map((one, index) => ({ index, embedding: embedded(one, topics) })).toReversed()
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data }))
      })
    })
    yield* Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void)))
    yield* Effect.addFinalizer(() =>
      Effect.callback<void>((resume) => {
        server.closeAllConnections()
        server.close(() => resume(Effect.void))
      })
    )
    const { port } = server.address() as AddressInfo
    const fake: FakeEmbeddings = {
      baseUrl: `http://127.0.0.1:${port}/v1`,
      requests,
      answerWith: (code) => (status = code)
    }
    return fake
  })

const embedded = (text: string, topics: ReadonlyArray<RegExp>): ReadonlyArray<number> => {
  const hits = topics.map((topic) => (topic.test(text) ? 1 : 0))
  return [...hits, hits.includes(1) ? 0 : 1, 0.05]
}
