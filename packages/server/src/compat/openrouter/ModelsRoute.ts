// GET /models of the OpenRouter-compatible API: no key is needed; prices come from the service's own table, as text, per UTF-8
// byte or per second.
import { decimalOf } from "@parley/workspace/billing/Money"
import { type Price, Prices } from "@parley/workspace/billing/Prices"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Settings } from "../../Settings.ts"
import { invalidRequest, OpenRouterFault, withEnvelope } from "./Envelope.ts"
import { root } from "./root.ts"

interface Entry {
  readonly name: string
  readonly title: string
  readonly kind: "tts" | "asr"
}

const entries: ReadonlyArray<Entry> = [
  { name: "s2.1-pro", title: "S2.1 Pro", kind: "tts" },
  { name: "s2.1-pro-free", title: "S2.1 Pro (free)", kind: "tts" },
  { name: "s2-pro", title: "S2 Pro", kind: "tts" },
  { name: "s1", title: "S1", kind: "tts" },
  { name: "transcribe-1", title: "Transcribe 1", kind: "asr" }
]

const kinds = {
  tts: {
    input: "text",
    output: "speech",
    parameters: ["temperature", "top_p", "repetition_penalty", "speed", "response_format"]
  },
  asr: { input: "audio", output: "text", parameters: ["response_format"] }
} as const

/** When the catalogue was last changed. */
const created = 1_795_219_200

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { vendor } = yield* Settings
    const prices = yield* Prices
    const enveloped = withEnvelope(vendor)

    const list = Effect.gen(function* () {
      const { url } = yield* HttpServerRequest.HttpServerRequest
      const query = new URL(url, "http://localhost").searchParams
      const wanted = (query.get("output_modalities") ?? "").split(",").filter((one) => one !== "" && one !== "all")
      const limit = Number(query.get("limit") ?? 500)
      const offset = Number(query.get("offset") ?? 0)
      if (!Number.isInteger(limit) || limit < 1 || !Number.isInteger(offset) || offset < 0) {
        return yield* invalidRequest("limit and offset must be whole numbers")
      }
      const found = entries.filter(({ kind }) => wanted.length === 0 || wanted.includes(kinds[kind].output))
      const known = yield* prices.list
      return HttpServerResponse.jsonUnsafe({
        data: found.slice(offset, offset + limit).map((entry) => modelOf(entry, vendor, priceOf(entry, known))),
        total_count: found.length,
        links: { next: null }
      })
    })

    return Layer.mergeAll(
      HttpRouter.add("GET", `${root}/models`, enveloped(list)),
      HttpRouter.add("*", `${root}/*`, enveloped(Effect.fail(noPath)))
    )
  })
)

const noPath = new OpenRouterFault({ status: 404, type: "not_found_error", message: "Not found" })

/** Of one byte or one second; a model's own price goes before its kind's. */
const priceOf = ({ kind, name }: Entry, prices: ReadonlyArray<Price>): string => {
  const price = prices.find((one) => one.name === `${kind}:${name}`) ?? prices.find((one) => one.name === kind)
  return price === undefined ? "0" : decimalOf(price.amount / price.per)
}

const modelOf = ({ kind, name, title }: Entry, vendor: string, price: string) => {
  const { input, output, parameters } = kinds[kind]
  const id = `${vendor}-audio/${name}`
  return {
    id,
    canonical_slug: id,
    name: title,
    created,
    description: "",
    context_length: null,
    architecture: {
      modality: `${input}->${output}`,
      input_modalities: [input],
      output_modalities: [output],
      tokenizer: "Other",
      instruct_type: null
    },
    pricing: { prompt: price, completion: "0" },
    top_provider: { is_moderated: false, context_length: null, max_completion_tokens: null },
    per_request_limits: null,
    supported_parameters: parameters,
    supported_voices: null,
    default_parameters: null,
    links: { details: `${root}/models` }
  }
}
