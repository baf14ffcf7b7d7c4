// The files of a model folder, as somebody unpacked them: their names differ from model to model, so each is found by
// what its name holds. A fault says, for people, what is missing or wrong and names no path.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { Data, Result } from "effect"
import { readOnnxHeader } from "./OnnxHeader.ts"
import type { OnnxHeader } from "./OnnxHeader.ts"

/** What is wrong with a model folder, for people. */
export class ModelFault extends Data.TaggedError("ModelFault")<{ readonly message: string }> {}

/** Runs `read`; what it throws as `ModelFault` becomes a failure. */
export const readingFolder = <A>(read: () => A): Result.Result<A, ModelFault> => {
  try {
    return Result.succeed(read())
  } catch (error) {
    if (error instanceof ModelFault) return Result.fail(error)
    throw error
  }
}

/** Finds files by what their names hold; throws `ModelFault` where a needed one is missing. */
export class ModelFolder {
  readonly #path: string
  readonly #names: ReadonlyArray<string>

  constructor(path: string) {
    this.#path = path
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new ModelFault({ message: "no such folder" })
    this.#names = readdirSync(path).sort((a, b) => a.length - b.length || a.localeCompare(b))
  }

  /** The first whose name fits, shorter names first; of a model in two precisions, the eight-bit one. */
  find(name: RegExp, except?: RegExp): string | undefined {
    const fitting = this.#names.filter((one) => name.test(one) && except?.test(one) !== true)
    const found = fitting.find((one) => /int8/.test(one)) ?? fitting[0]
    return found === undefined ? undefined : join(this.#path, found)
  }

  need(name: RegExp, what: string): string {
    const found = this.find(name)
    if (found === undefined) throw new ModelFault({ message: `${what} is missing` })
    return found
  }

  /** Models, without their precisions: 1 for `model.onnx` beside `model.int8.onnx`. */
  get models(): number {
    const plain = this.#names
      .filter((one) => one.endsWith(".onnx"))
      .map((one) => one.replace(/[._-]?(int8|fp16|fp32)/, ""))
    return new Set(plain).size
  }

  /** Phoneme data, where the folder brings it. */
  get espeakData(): string {
    const folder = join(this.#path, "espeak-ng-data")
    return existsSync(folder) ? folder : ""
  }

  /** Each line a symbol and its number: the runtime ends its process on any other. */
  get tokens(): string {
    const file = this.need(/tokens\.txt$/, "tokens.txt")
    const lines = readFileSync(file, "utf8").split(/\r?\n/)
    const wrong = lines.findIndex((line) => line !== "" && !/\s?\d+\s*$/.test(line))
    if (wrong !== -1) throw new ModelFault({ message: `tokens.txt, line ${wrong + 1}: no symbol with a number` })
    if (!lines.some((line) => line !== "")) throw new ModelFault({ message: "tokens.txt is empty" })
    return file
  }
}

/** Of a file that is there; each of `needed` must be among its metadata. */
export const headerOf = (file: string, needed: ReadonlyArray<string> = []): OnnxHeader => {
  const name = file.slice(file.lastIndexOf("/") + 1)
  const header = readOnnxHeader(file)
  if (Result.isFailure(header)) throw new ModelFault({ message: `${name} ${header.failure}` })
  const missing = needed.filter((key) => !header.success.metadata.has(key))
  if (missing.length > 0) throw new ModelFault({ message: `${name} lacks the metadata ${missing.join(", ")}` })
  return header.success
}
