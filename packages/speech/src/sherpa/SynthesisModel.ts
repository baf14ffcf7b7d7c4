// A folder with a voice for sherpa-onnx: which kind it is, what its engine needs to know, and who speaks in it.
// Kokoro (and Kitten, alike in its files), VITS and Piper, ZipVoice.
import type { Result } from "effect"
import { ModelFault, ModelFolder, headerOf, readingFolder } from "./ModelFolder.ts"
import type { TtsModelConfig } from "./sherpaRuntime.ts"
import { readFileSync } from "node:fs"

/** A voice in a folder. */
export interface SynthesisModel {
  readonly kind: "kokoro" | "kitten" | "vits" | "zipvoice"
  readonly config: TtsModelConfig
  /** Voice ids by speaker number. */
  readonly speakers: ReadonlyArray<string>
  /** ISO 639-1; empty when the model does not say. */
  readonly language: string
  /** Who speaks when nobody was asked for: engines that clone know no voice of their own. */
  readonly reference: { readonly file: string; readonly text: string } | undefined
}

/** Reads file names and ONNX headers only. Fails with what is missing or unknown. */
export const readSynthesisModel = (path: string): Result.Result<SynthesisModel, ModelFault> =>
  readingFolder(() => {
    const folder = new ModelFolder(path)
    if (folder.find(/\.onnx$/) === undefined) throw new ModelFault({ message: "no .onnx file is there" })
    if (folder.find(/^voices.*\.bin$/) !== undefined) return styled(folder)
    if (folder.find(/decoder.*\.onnx$/) !== undefined) return zipvoice(folder)
    return vits(folder)
  })

/** Kokoro and Kitten: one model, one file with the styles of its speakers. */
const styled = (folder: ModelFolder): SynthesisModel => {
  const model = folder.need(/\.onnx$/, "the model")
  const { metadata } = headerOf(model, ["model_type", "sample_rate", "n_speakers", "style_dim"])
  const kind = (metadata.get("model_type") ?? "").startsWith("kitten") ? "kitten" : "kokoro"
  const dataDir = folder.espeakData
  if (dataDir === "") throw new ModelFault({ message: "the folder espeak-ng-data is missing" })
  const lexicon = folder.find(/^lexicon.*\.txt$/)
  const config = {
    model,
    voices: folder.need(/^voices.*\.bin$/, "voices.bin"),
    tokens: folder.tokens,
    dataDir,
    ...(kind === "kokoro" && lexicon !== undefined ? { lexicon } : {})
  }
  return {
    kind,
    config: { [kind]: config },
    speakers: speakersOf(metadata),
    language: languageOf(metadata),
    reference: undefined
  }
}

const vits = (folder: ModelFolder): SynthesisModel => {
  if (folder.models > 1) throw new ModelFault({ message: "several models lie there and none is of a known kind" })
  const model = folder.need(/\.onnx$/, "the model")
  const { metadata } = headerOf(model, ["sample_rate", "n_speakers", "comment", "language"])
  const dataDir = folder.espeakData
  const lexicon = folder.find(/^lexicon.*\.txt$/) ?? ""
  if (dataDir === "" && lexicon === "") {
    throw new ModelFault({ message: "neither the folder espeak-ng-data nor lexicon.txt is there" })
  }
  return {
    kind: "vits",
    config: { vits: { model, tokens: folder.tokens, dataDir, lexicon } },
    speakers: speakersOf(metadata),
    language: languageOf(metadata),
    reference: undefined
  }
}

/** Speaks like a recording; without any it speaks like the one in its folder. */
const zipvoice = (folder: ModelFolder): SynthesisModel => {
  const encoder = folder.need(/encoder.*\.onnx$/, "the encoder")
  const decoder = folder.need(/decoder.*\.onnx$/, "the decoder")
  const vocoder = folder.need(/voco.*\.onnx$/, "the vocoder (vocos .onnx)")
  for (const file of [encoder, decoder, vocoder]) headerOf(file)
  const file = folder.need(/^reference\.wav$/, "reference.wav, the recording to speak like when no other is given,")
  const text = readFileSync(folder.need(/^reference\.txt$/, "reference.txt, what reference.wav says,"), "utf8").trim()
  return {
    kind: "zipvoice",
    config: {
      zipvoice: {
        encoder,
        decoder,
        vocoder,
        tokens: folder.tokens,
        dataDir: folder.espeakData,
        lexicon: folder.find(/^lexicon.*\.txt$/) ?? ""
      }
    },
    speakers: ["sherpa:0"],
    language: "",
    reference: { file, text }
  }
}

const mostSpeakers = 2000

const speakersOf = (metadata: ReadonlyMap<string, string>): ReadonlyArray<string> => {
  const count = Math.min(mostSpeakers, Math.max(1, Number.parseInt(metadata.get("n_speakers") ?? "1", 10) || 1))
  const names = (metadata.get("speaker_names") ?? "").split(",").map((name) => name.trim())
  return Array.from({ length: count }, (_, i) => (names.length === count && names[i] ? names[i] : `sherpa:${i}`))
}

const languageOf = (metadata: ReadonlyMap<string, string>): string => {
  const [code = ""] = (metadata.get("voice") ?? "").toLowerCase().split(/[-_]/)
  return /^[a-z]{2}$/.test(code) ? code : ""
}
