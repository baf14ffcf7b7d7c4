// Folders as people have them: what is recognised, and what is said of a bad one. Nothing here loads a model.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Result } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { readRecognitionModel } from "../../src/sherpa/RecognitionModel.ts"
import { readOnnxHeader } from "../../src/sherpa/OnnxHeader.ts"
import { readSynthesisModel } from "../../src/sherpa/SynthesisModel.ts"
import { encodeModel, floatType } from "../../src/testing/OnnxWriter.ts"
import { offlineCtc, streamingCtc, vitsFiles } from "../../src/testing/toyModels.ts"

const root = mkdtempSync(join(tmpdir(), "sherpa-folders-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let folders = 0
const folderOf = (files: Readonly<Record<string, string | Uint8Array>>): string => {
  const folder = join(root, String(folders++))
  mkdirSync(folder)
  for (const [name, content] of Object.entries(files)) {
    if (name.includes("/")) mkdirSync(join(folder, name, ".."), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  return folder
}

const onnx = (metadata: Record<string, string | number> = {}, inputs = 2): Uint8Array =>
  encodeModel({
    nodes: [],
    constants: [],
    inputs: Array.from({ length: inputs }, (_, i) => ({ name: `x${i}`, type: floatType, dims: ["N"] })),
    outputs: [],
    metadata
  })
const tokens = "a 0\nb 1\n"

const faultOf = (result: Result.Result<unknown, { readonly message: string }>): string =>
  Result.isFailure(result) ? result.failure.message : "none"

describe("OnnxHeader", () => {
  it("reads metadata and input names past weights of any size", () => {
    const file = join(
      folderOf({
        "m.onnx": encodeModel({
          nodes: [{ op: "Identity", in: ["x"], out: ["y"] }],
          constants: [{ name: "w", dims: [300_000], data: new Float32Array(300_000) }],
          inputs: [{ name: "x", type: floatType, dims: ["N", 80] }],
          outputs: [],
          metadata: { sample_rate: 22_050, comment: "größer" }
        })
      }),
      "m.onnx"
    )
    const header = Result.getOrThrow(readOnnxHeader(file))
    expect(header.inputs).toEqual(["x"])
    expect(Object.fromEntries(header.metadata)).toEqual({ sample_rate: "22050", comment: "größer" })
  })

  it("survives any garbage and any cut", () => {
    const whole = onnx({ key: "value" })
    const folder = folderOf({})
    for (let seed = 1; seed < 300; seed++) {
      const bytes = Uint8Array.from(
        { length: seed },
        (_, i) => (Math.imul(seed * 7919 + i, 2_654_435_761) >>> 13) & 255
      )
      writeFileSync(join(folder, "garbage.onnx"), bytes)
      readOnnxHeader(join(folder, "garbage.onnx"))
    }
    for (let length = 0; length < whole.length; length++) {
      writeFileSync(join(folder, "cut.onnx"), whole.subarray(0, length))
      const header = readOnnxHeader(join(folder, "cut.onnx"))
      if (Result.isSuccess(header)) expect(header.success.inputs).toHaveLength(2)
    }
  })
})

describe("SynthesisModel", () => {
  it.each([
    ["several speakers", { n_speakers: 2, speaker_names: "anna,ben" }, ["anna", "ben"]],
    ["speakers without names", { n_speakers: 3 }, ["sherpa:0", "sherpa:1", "sherpa:2"]],
    ["names that are too few", { n_speakers: 2, speaker_names: "anna" }, ["sherpa:0", "sherpa:1"]]
  ])("knows VITS with %s", (_, metadata, speakers) => {
    const model = Result.getOrThrow(readSynthesisModel(folderOf(vitsFiles(metadata))))
    expect(model).toMatchObject({ kind: "vits", speakers, language: "en" })
  })

  it("knows Kokoro, and prefers eight bits", () => {
    const metadata = { model_type: "kokoro", sample_rate: 24_000, n_speakers: 2, style_dim: "510,1,256" }
    const files = { "voices.bin": "", "tokens.txt": tokens, "espeak-ng-data/phontab": "", "model.onnx": onnx(metadata) }
    const folder = folderOf({ ...files, "model.int8.onnx": onnx(metadata) })
    const model = Result.getOrThrow(readSynthesisModel(folder))
    expect(model.kind).toBe("kokoro")
    expect(model.config.kokoro?.["model"]).toMatch(/model\.int8\.onnx$/)
  })

  it("knows ZipVoice, which needs a recording to speak like", () => {
    const files = {
      "text_encoder.onnx": onnx(),
      "fm_decoder.onnx": onnx(),
      "vocos_24khz.onnx": onnx(),
      "tokens.txt": tokens
    }
    expect(faultOf(readSynthesisModel(folderOf(files)))).toContain("reference.wav")
    const model = Result.getOrThrow(
      readSynthesisModel(folderOf({ ...files, "reference.wav": "", "reference.txt": "Hello there.\n" }))
    )
    expect(model).toMatchObject({ kind: "zipvoice", reference: { text: "Hello there." } })
  })

  const plain = vitsFiles()
  const without = (name: string) => Object.fromEntries(Object.entries(plain).filter(([file]) => file !== name))
  it.each([
    ["an empty folder", {}, "no .onnx file"],
    ["garbage", { ...plain, "model.onnx": "garbage, not a model" }, "model.onnx is no ONNX model"],
    ["a cut model", { ...plain, "model.onnx": Buffer.from(plain["model.onnx"] ?? "").subarray(0, 4000) }, "damaged"],
    ["missing metadata", { ...plain, "model.onnx": onnx({ model_type: "vits" }) }, "lacks the metadata sample_rate"],
    ["no tokens", without("tokens.txt"), "tokens.txt is missing"],
    ["tokens without numbers", { ...plain, "tokens.txt": "a 0\nnonsense\n" }, "tokens.txt, line 2"],
    ["no way to pronounce", without("lexicon.txt"), "lexicon.txt"]
  ])("says what is wrong with %s", (_, files, message) => {
    const fault = faultOf(readSynthesisModel(folderOf(files)))
    expect(fault).toContain(message)
    expect(fault).not.toContain(root)
  })

  it("says that there is no folder", () => {
    expect(faultOf(readSynthesisModel(join(root, "nowhere")))).toBe("no such folder")
  })
})

describe("RecognitionModel", () => {
  it("knows the toys", () => {
    expect(Result.getOrThrow(readRecognitionModel(offlineCtc(root)))).toMatchObject({
      kind: "zipformerCtc",
      streaming: false
    })
    expect(Result.getOrThrow(readRecognitionModel(streamingCtc(root)))).toMatchObject({
      kind: "nemoCtc",
      streaming: true
    })
  })

  const nemo = { window_size: 1, chunk_shift: 1, subsampling_factor: 4, vocab_size: 2 }
  const caches = { cache_last_channel_dim1: 1, cache_last_time_dim1: 1 }
  it.each([
    [
      "a streaming transducer",
      { "encoder.onnx": onnx({}, 9), "decoder.onnx": onnx(), "joiner.onnx": onnx() },
      "transducer",
      true
    ],
    [
      "a transducer",
      { "encoder.int8.onnx": onnx(), "decoder.onnx": onnx(), "joiner.onnx": onnx() },
      "transducer",
      false
    ],
    [
      "whisper",
      { "tiny-encoder.onnx": onnx({ model_type: "whisper-tiny" }), "tiny-decoder.onnx": onnx() },
      "whisper",
      false
    ],
    [
      "streaming paraformer",
      { "encoder.onnx": onnx({ model_type: "paraformer" }), "decoder.onnx": onnx() },
      "paraformer",
      true
    ],
    ["SenseVoice", { "model.onnx": onnx({ model_type: "sense_voice_ctc" }, 4) }, "senseVoice", false],
    ["paraformer", { "model.onnx": onnx({ model_type: "paraformer" }) }, "paraformer", false],
    ["NeMo CTC", { "model.onnx": onnx({ model_type: "EncDecCTCModelBPE" }) }, "nemoCtc", false],
    ["streaming NeMo CTC", { "model.onnx": onnx({ ...nemo, ...caches }, 5) }, "nemoCtc", true],
    ["streaming zipformer CTC", { "model.onnx": onnx({}, 20) }, "zipformer2Ctc", true],
    [
      "moonshine",
      {
        "preprocess.onnx": onnx(),
        "encode.onnx": onnx(),
        "uncached_decode.onnx": onnx(),
        "cached_decode.onnx": onnx()
      },
      "moonshine",
      false
    ]
  ])("knows %s", (_, files, kind, streaming) => {
    const model = readRecognitionModel(folderOf({ ...files, "tokens.txt": tokens }))
    expect(Result.getOrThrow(model)).toMatchObject({ kind, streaming })
  })

  it.each([
    ["a transducer without its decoder", { "encoder.onnx": onnx(), "joiner.onnx": onnx() }, "decoder"],
    ["NeMo without caches", { "model.onnx": onnx(nemo, 5), "tokens.txt": tokens }, "cache_last_channel_dim1"],
    ["an unknown pair", { "encoder.onnx": onnx({ model_type: "new" }), "decoder.onnx": onnx() }, "new are not known"],
    ["garbage", { "model.onnx": "garbage", "tokens.txt": tokens }, "is no ONNX model"]
  ])("says what is wrong with %s", (_, files, message) => {
    expect(faultOf(readRecognitionModel(folderOf(files)))).toContain(message)
  })
})
