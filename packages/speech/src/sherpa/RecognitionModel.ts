// A folder with a recogniser for sherpa-onnx: which kind it is, whether it works while the caller speaks, and what its
// engine is to be told. The kind follows from the files' names and from what the models say of themselves: a graph
// with more inputs than sound and its length keeps a state, and so is a streaming one.
import type { Result } from "effect"
import { ModelFault, ModelFolder, headerOf, readingFolder } from "./ModelFolder.ts"
import type { AsrModelConfig } from "./sherpaRuntime.ts"

/** A recogniser in a folder. */
export interface RecognitionModel {
  /** As the runtime calls it: `zipformerCtc`, `whisper`. */
  readonly kind: string
  readonly streaming: boolean
  readonly config: AsrModelConfig
  /** Longest utterance the model takes at once, in seconds. */
  readonly mostSeconds: number
}

/** Reads file names and ONNX headers only. Fails with what is missing or unknown. */
export const readRecognitionModel = (path: string): Result.Result<RecognitionModel, ModelFault> =>
  readingFolder(() => {
    const folder = new ModelFolder(path)
    if (folder.find(/joiner.*\.onnx$/) !== undefined) return transducer(folder)
    if (folder.find(/cached.*\.onnx$/) !== undefined) return moonshine(folder)
    if (folder.find(/encoder.*\.onnx$/) !== undefined) return encoderAndDecoder(folder)
    return single(folder)
  })

const transducer = (folder: ModelFolder): RecognitionModel => {
  const encoder = folder.need(/encoder.*\.onnx$/, "the encoder")
  const decoder = folder.need(/decoder.*\.onnx$/, "the decoder")
  const joiner = folder.need(/joiner.*\.onnx$/, "the joiner")
  headerOf(decoder)
  headerOf(joiner)
  const { inputs, metadata } = headerOf(encoder)
  const nemo = (metadata.get("model_type") ?? "").startsWith("EncDec") && inputs.length <= 2
  const config = { transducer: { encoder, decoder, joiner }, tokens: folder.tokens }
  return modelOf("transducer", inputs.length > 2, nemo ? { ...config, modelType: "nemo_transducer" } : config)
}

const moonshine = (folder: ModelFolder): RecognitionModel => {
  const files = {
    preprocessor: folder.need(/preprocess.*\.onnx$/, "the preprocessor"),
    encoder: folder.need(/encode(?!.*decode).*\.onnx$/, "the encoder"),
    uncachedDecoder: folder.need(/uncached.*\.onnx$/, "the uncached decoder"),
    cachedDecoder: folder.need(/(^|[^n])cached.*\.onnx$/, "the cached decoder")
  }
  for (const file of Object.values(files)) headerOf(file)
  return modelOf("moonshine", false, { moonshine: files, tokens: folder.tokens })
}

const encoderAndDecoder = (folder: ModelFolder): RecognitionModel => {
  const encoder = folder.need(/encoder.*\.onnx$/, "the encoder")
  const decoder = folder.need(/decoder.*\.onnx$/, "the decoder")
  headerOf(decoder)
  const { metadata } = headerOf(encoder)
  const type = metadata.get("model_type") ?? ""
  const files = { encoder, decoder }
  if (type.startsWith("whisper")) {
    return { ...modelOf("whisper", false, { whisper: files, tokens: folder.tokens }), mostSeconds: 28 }
  }
  if (type.startsWith("paraformer") || metadata.has("lfr_window_size")) {
    return modelOf("paraformer", true, { paraformer: files, tokens: folder.tokens })
  }
  throw new ModelFault({ message: `models of the type ${type === "" ? "that is not named" : type} are not known here` })
}

/** One graph: CTC of any family, SenseVoice, Paraformer. */
const single = (folder: ModelFolder): RecognitionModel => {
  const model = folder.need(/\.onnx$/, "a file .onnx")
  if (folder.models > 1) throw new ModelFault({ message: "several models lie there and none is of a known kind" })
  const { inputs, metadata } = headerOf(model)
  const type = metadata.get("model_type") ?? ""
  const { tokens } = folder
  const config = (kind: string) => ({ [kind]: { model }, tokens })
  if (type === "sense_voice_ctc") return modelOf("senseVoice", false, config("senseVoice"))
  if (type.startsWith("paraformer")) return modelOf("paraformer", false, config("paraformer"))
  if (inputs.length > 2) {
    const nemo = metadata.has("window_size") && metadata.has("chunk_shift")
    if (nemo) headerOf(model, streamingNemo)
    const kind = nemo ? "nemoCtc" : "zipformer2Ctc"
    return modelOf(kind, true, config(kind))
  }
  const kind = type.startsWith("EncDec") ? "nemoCtc" : type === "wenet_ctc" ? "wenetCtc" : "zipformerCtc"
  return modelOf(kind, false, config(kind))
}

const streamingNemo = ["subsampling_factor", "vocab_size", "cache_last_channel_dim1", "cache_last_time_dim1"]

const modelOf = (kind: string, streaming: boolean, config: AsrModelConfig): RecognitionModel => ({
  kind,
  streaming,
  config,
  mostSeconds: 120
})
