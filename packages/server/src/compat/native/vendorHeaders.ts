// The service's own parameters in the headers of the compatible APIs: `X-Vendor-Chunk-Length: 200`,
// `X-Vendor-Prosody: {"speed": 1.2}`. Values are JSON where they can be read as such, else text.
import type { Headers } from "effect/http"

/** Names in the body of POST /v1/tts that a compatible API lets through; text, voice and format have their own place. */
export const nativeNames = [
  "latency",
  "chunk_length",
  "min_chunk_length",
  "normalize",
  "prosody",
  "references",
  "temperature",
  "top_p",
  "repetition_penalty",
  "max_new_tokens",
  "sample_rate",
  "mp3_bitrate",
  "opus_bitrate",
  "early_stop_threshold",
  "condition_on_previous_chunks"
] as const

/** By their names in POST /v1/tts, not yet checked; the first of `vendors` that has one counts. */
export const vendorHeaders = (
  headers: Headers.Headers | NodeJS.Dict<string | Array<string>>,
  vendors: ReadonlyArray<string>
): Readonly<Record<string, unknown>> => {
  const found: Record<string, unknown> = {}
  for (const vendor of vendors) {
    for (const name of nativeNames) {
      const value = (headers as Readonly<Record<string, unknown>>)[`x-${vendor}-${name.replaceAll("_", "-")}`]
      if (typeof value === "string" && !(name in found)) found[name] = valueOf(value)
    }
  }
  return found
}

/** The parameters in an object of options that a compatible API lets through. */
export const nativeOf = (options: unknown): Readonly<Record<string, unknown>> =>
  typeof options === "object" && options !== null
    ? Object.fromEntries(
        Object.entries(options).filter(([name]) => (nativeNames as ReadonlyArray<string>).includes(name))
      )
    : {}

const valueOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
