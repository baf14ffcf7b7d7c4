// Any OpenAI-compatible `POST {base}/embeddings`.
import { Effect, Redacted } from "effect"
import { EmbedError, type Embedder } from "../Embedder.ts"

/** An endpoint and how it is asked. */
export interface OpenAiEmbeddingsSettings {
  /** Without the trailing `/embeddings`. */
  readonly baseUrl: string
  readonly model: string
  readonly apiKey?: Redacted.Redacted<string> | undefined
}

/** Longer vectors are no embeddings. */
const mostNumbers = 16_384

/** An embedding model behind one endpoint. */
export const make = ({ apiKey, baseUrl, model }: OpenAiEmbeddingsSettings): Embedder => {
  const url = `${baseUrl.replace(/\/+$/, "").replace(/\/embeddings$/, "")}/embeddings`
  const headers: Record<string, string> = { "content-type": "application/json" }
  if (apiKey !== undefined) headers["authorization"] = `Bearer ${Redacted.value(apiKey)}`
  return {
    model,
    embed: Effect.fnUntraced(function* (texts) {
      const response = yield* Effect.tryPromise({
        try: (signal) =>
          fetch(url, {
            method: "POST",
            headers,
            body: JSON.stringify({ model, input: texts, encoding_format: "float" }),
            redirect: "error",
            signal
          }),
        catch: () => new EmbedError({ reason: "Unavailable", message: "no connection to the endpoint" })
      })
      if (!response.ok) {
        yield* Effect.ignore(Effect.tryPromise(() => response.body?.cancel() ?? Promise.resolve()))
        const { status } = response
        const later = status === 408 || status === 429 || status >= 500
        const message = `the endpoint answered ${status}`
        return yield* new EmbedError({ reason: later ? "Unavailable" : "Refused", message })
      }
      const body = yield* Effect.tryPromise({
        try: () => response.json(),
        catch: () => new EmbedError({ reason: "InvalidOutput", message: "an answer that is no JSON" })
      })
      const vectors = vectorsOf(body, texts.length)
      return vectors ?? (yield* new EmbedError({ reason: "InvalidOutput", message: "an answer without its vectors" }))
    })
  }
}

const vectorsOf = (body: unknown, count: number): ReadonlyArray<Float32Array> | undefined => {
  const data = (body as { readonly data?: unknown } | null)?.data
  if (!Array.isArray(data) || data.length !== count) return undefined
  const vectors: Array<Float32Array | undefined> = Array.from({ length: count }, () => undefined)
  for (const [position, item] of (data as ReadonlyArray<unknown>).entries()) {
    const { embedding, index = position } = (item ?? {}) as { readonly embedding?: unknown; readonly index?: unknown }
    if (typeof index !== "number" || !(index in vectors)) return undefined
    vectors[index] = numbersOf(embedding)
  }
  const [first] = vectors
  if (first === undefined) return count === 0 ? [] : undefined
  const whole = vectors.filter((vector) => vector !== undefined && vector.length === first.length)
  return whole.length === count ? (whole as ReadonlyArray<Float32Array>) : undefined
}

const numbersOf = (value: unknown): Float32Array | undefined =>
  Array.isArray(value) && value.length > 0 && value.length <= mostNumbers && value.every(Number.isFinite)
    ? Float32Array.from(value as ReadonlyArray<number>)
    : undefined
