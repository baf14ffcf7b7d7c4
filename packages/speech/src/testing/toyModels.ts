// Models of a few kilobytes that the genuine runtime loads. The voices sing each letter at a pitch of its own; the
// recognisers find the loudest mel band and write the letter of that pitch. So any text can be played and read back.
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { encodeModel, floatType, int64Type } from "./OnnxWriter.ts"
import type { Model, Tensor, Value } from "./OnnxWriter.ts"

const letters = " abcdefghijklmnopqrstuvwxyz"
const toneMs = 100
/** A letter and the silence after it. */
export const letterMs = 200
const bands = 80
const blankBias = 4

/** Of the 80 mel bands from 20 to 7600 Hz; two bands between neighbours. */
const bandOf = (letter: string): number => 22 + 2 * letters.indexOf(letter)

const pitchOf = (letter: string): number => {
  const [low, high] = [melOf(20), melOf(7600)]
  return 700 * (Math.exp((low + ((bandOf(letter) + 1) * (high - low)) / (bands + 1)) / 1127) - 1)
}
const melOf = (hertz: number): number => 1127 * Math.log(1 + hertz / 700)

const tone = (letter: string, sampleRate: number): Float32Array => {
  const samples = new Float32Array((letterMs * sampleRate) / 1000)
  const sounding = (toneMs * sampleRate) / 1000
  for (let i = 0; i < sounding; i++) {
    const fade = Math.min(1, i / 80, (sounding - i) / 80)
    samples[i] = 0.5 * fade * Math.sin((2 * Math.PI * pitchOf(letter) * i) / sampleRate)
  }
  return samples
}

/** Text as tones at 16 kHz: what the toy recognisers hear. Lower-case letters and blanks. */
export const play = (text: string): Int16Array => {
  const samples = new Int16Array((text.length * letterMs * 16_000) / 1000)
  for (const [at, letter] of [...text].entries()) {
    const sound = tone(letter, 16_000)
    for (let i = 0; i < sound.length; i++) samples[at * sound.length + i] = Math.round(32_767 * (sound[i] ?? 0))
  }
  return samples
}

const floats = (name: string, dims: ReadonlyArray<number>, data: ReadonlyArray<number> | Float32Array): Tensor => ({
  name,
  dims,
  data: Float32Array.from(data)
})
const whole = (name: string, ...data: ReadonlyArray<number>): Tensor => ({
  name,
  dims: [data.length],
  data: BigInt64Array.from(data, BigInt)
})
const value = (name: string, type: number, ...dims: ReadonlyArray<number | string>): Value => ({ name, type, dims })

/** Writes the files of one model into a folder of its own and gives the folder back. */
const folderOf = (root: string, name: string, files: Readonly<Record<string, string | Uint8Array>>): string => {
  const folder = join(root, name)
  mkdirSync(folder, { recursive: true })
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content)
  return folder
}

const letterTable = (sampleRate: number): Tensor => {
  const length = (letterMs * sampleRate) / 1000
  const table = new Float32Array(letters.length * length)
  for (const [i, letter] of [...letters].entries()) table.set(tone(letter, sampleRate), i * length)
  return floats("table", [letters.length, length], table)
}

const spokenWords = ["good", "morning", "what", "can", "i", "do", "for", "you", "hello", "world", "one", "two"]

export const vitsFiles = (
  metadata: Readonly<Record<string, string | number>> = {}
): Record<string, string | Buffer> => {
  const model: Model = {
    inputs: [
      value("input", int64Type, "N", "T"),
      value("input_lengths", int64Type, "N"),
      value("scales", floatType, 3),
      value("sid", int64Type, "N")
    ],
    outputs: [value("output", floatType, "N", 1, 1, "S")],
    constants: [
      letterTable(16_000),
      whole("flat", 1, 1, 1, -1),
      whole("one", 1),
      whole("two", 2),
      whole("zero", 0),
      floats("ones", [3], [1, 1, 1]),
      floats("half", [1], [0.5]),
      floats("unit", [1], [1])
    ],
    nodes: [
      { op: "Gather", in: ["table", "input"], out: ["sounds"] },
      { op: "Reshape", in: ["sounds", "flat"], out: ["line"] },
      { op: "Slice", in: ["scales", "one", "two", "zero"], out: ["stretch"] },
      { op: "Concat", in: ["ones", "stretch"], out: ["stretches"], attributes: { axis: 0 } },
      { op: "Resize", in: ["line", "", "stretches"], out: ["stretched"], attributes: { mode: "linear" } },
      { op: "Cast", in: ["sid"], out: ["speaker"], attributes: { to: floatType } },
      { op: "Mul", in: ["speaker", "half"], out: ["softer"] },
      { op: "Sub", in: ["unit", "softer"], out: ["loudness"] },
      { op: "Mul", in: ["stretched", "loudness"], out: ["output"] }
    ],
    metadata: {
      model_type: "vits",
      comment: "piper",
      language: "English",
      voice: "en-us",
      has_espeak: 0,
      n_speakers: 2,
      sample_rate: 16_000,
      punctuation: ", . ! ?",
      add_blank: 0,
      ...metadata
    }
  }
  return {
    "model.onnx": encodeModel(model),
    "tokens.txt": [...letters, ",", ".", "?", "!"].map((letter, i) => `${letter} ${i % letters.length}\n`).join(""),
    "lexicon.txt": spokenWords.map((word) => `${word} ${[...word].join(" ")}\n`).join("")
  }
}

/** Two soft and loud singers at 16 kHz. */
export const vits = (root: string): string => folderOf(root, "vits", vitsFiles())

/** `[bands, letters + 1]`: one at each letter's band; the blank, first or last, has a bias instead. */
const bandWeights = (blankFirst: boolean) => {
  const columns = letters.length + 1
  const weights = new Float32Array(bands * columns)
  for (const [i, letter] of [...letters].entries()) weights[bandOf(letter) * columns + i + (blankFirst ? 1 : 0)] = 1
  const bias = new Float32Array(columns)
  bias[blankFirst ? 0 : letters.length] = blankBias
  return [floats("weights", [bands, columns], weights), floats("bias", [columns], bias)]
}

/** From `[N, T, bands]` called `x`: every fourth frame's letter. */
const listen = [
  { op: "ReduceMean", in: ["x"], out: ["level"], attributes: { axes: [2], keepdims: 1 } },
  { op: "Sub", in: ["x", "level"], out: ["relief"] },
  { op: "Slice", in: ["relief", "zero", "most", "one", "four"], out: ["sparse"] },
  { op: "MatMul", in: ["sparse", "weights"], out: ["scores"] },
  { op: "Add", in: ["scores", "bias"], out: ["logits"] },
  { op: "LogSoftmax", in: ["logits"], out: ["log_probs"], attributes: { axis: 2 } },
  { op: "Add", in: ["x_lens", "three"], out: ["rounded"] },
  { op: "Div", in: ["rounded", "four"], out: ["log_probs_len"] }
] as const
const strides = [whole("zero", 0), whole("most", 2 ** 40), whole("one", 1), whole("three", 3), whole("four", 4)]

const symbols = [...letters].map((letter) => (letter === " " ? "▁" : letter))

export const offlineCtc = (root: string): string => {
  const model: Model = {
    inputs: [value("x", floatType, "N", "T", bands), value("x_lens", int64Type, "N")],
    outputs: [value("log_probs", floatType, "N", "S", letters.length + 1), value("log_probs_len", int64Type, "N")],
    constants: [...strides, ...bandWeights(true)],
    nodes: listen,
    metadata: {}
  }
  const tokens = ["<blk>", ...symbols].map((symbol, i) => `${symbol} ${i}\n`).join("")
  return folderOf(root, "offline-ctc", { "model.onnx": encodeModel(model), "tokens.txt": tokens })
}

export const streamingCtc = (root: string): string => {
  const caches = ["cache_last_channel", "cache_last_time"]
  const model: Model = {
    inputs: [
      value("audio_signal", floatType, "N", bands, "T"),
      value("length", int64Type, "N"),
      ...caches.map((name) => value(name, floatType, "N", 1, 1, 1)),
      value("cache_last_channel_len", int64Type, "N")
    ],
    outputs: [
      value("log_probs", floatType, "N", "S", letters.length + 1),
      value("log_probs_len", int64Type, "N"),
      ...caches.map((name) => value(`${name}_next`, floatType, "N", 1, 1, 1)),
      value("cache_last_channel_next_len", int64Type, "N")
    ],
    constants: [...strides, ...bandWeights(false)],
    nodes: [
      { op: "Transpose", in: ["audio_signal"], out: ["x"], attributes: { perm: [0, 2, 1] } },
      { op: "Identity", in: ["length"], out: ["x_lens"] },
      ...listen,
      ...caches.map((name) => ({ op: "Identity", in: [name], out: [`${name}_next`] })),
      { op: "Identity", in: ["cache_last_channel_len"], out: ["cache_last_channel_next_len"] }
    ],
    metadata: {
      window_size: 16,
      chunk_shift: 16,
      subsampling_factor: 4,
      vocab_size: letters.length,
      normalize_type: "NA",
      ...Object.fromEntries(caches.flatMap((name) => [1, 2, 3].map((dim) => [`${name}_dim${dim}`, 1])))
    }
  }
  const tokens = [...symbols, "<blk>"].map((symbol, i) => `${symbol} ${i}\n`).join("")
  return folderOf(root, "streaming-ctc", { "model.onnx": encodeModel(model), "tokens.txt": tokens })
}
