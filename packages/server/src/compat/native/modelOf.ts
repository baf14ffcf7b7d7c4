// The service's models by their vendor-prefixed names in the compatible APIs: `vendor-audio/s2-pro`.
import { type TtsModel, ttsModels } from "@parley/contract/speech/TtsRequest"

export type NamedModel =
  | { readonly _tag: "Ours"; readonly model: TtsModel }
  /** Prefixed like ours, and there is no such model. */
  | { readonly _tag: "Unknown" }
  /** Not prefixed like ours. */
  | { readonly _tag: "Foreign" }

/** `vendors`: the words that may stand before `-audio/`. */
export const modelNamed = (name: string, vendors: ReadonlyArray<string>): NamedModel => {
  const own = vendors.map((vendor) => `${vendor}-audio/`).find((prefix) => name.startsWith(prefix))
  if (own === undefined) return { _tag: "Foreign" }
  const model = ttsModels.find((one) => one === name.slice(own.length))
  return model === undefined ? { _tag: "Unknown" } : { _tag: "Ours", model }
}
