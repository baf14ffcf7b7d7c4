// What an ONNX file says of itself, read without loading it: metadata and the names of the graph's inputs. The runtime
// ends its whole process on a damaged file or a missing entry, so this is asked first. Weights are skipped, never read.
// Format: onnx.proto3, ModelProto.
import { Result } from "effect"
import { closeSync, fstatSync, openSync, readSync } from "node:fs"

/** What a model file says of itself. */
export interface OnnxHeader {
  readonly metadata: ReadonlyMap<string, string>
  readonly inputs: ReadonlyArray<string>
}

/** Or what is wrong with the file, for people; names no path. */
export const readOnnxHeader = (file: string): Result.Result<OnnxHeader, string> => {
  let descriptor: number | undefined
  try {
    descriptor = openSync(file, "r")
    return Result.succeed(parseModel(new WindowedFile(descriptor)))
  } catch (error) {
    return Result.fail(error instanceof Damaged ? "is no ONNX model, or a damaged one" : "cannot be read")
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

class Damaged extends Error {}

/** Field numbers of ModelProto, GraphProto and the like. */
const graphField = 7
const metadataField = 14
const inputField = 11
/** Longest text that is read. */
const mostText = 1_000_000

const parseModel = (file: WindowedFile): OnnxHeader => {
  const metadata = new Map<string, string>()
  const inputs: Array<string> = []
  let graphs = 0
  for (const { end, field, start } of fields(file, 0, file.size)) {
    if (field === graphField) {
      graphs++
      for (const part of fields(file, start, end)) {
        if (part.field === inputField) inputs.push(textOf(file, part.start, part.end, 1))
      }
    }
    if (field === metadataField) metadata.set(textOf(file, start, end, 1), textOf(file, start, end, 2))
  }
  if (graphs !== 1 || inputs.length === 0) throw new Damaged()
  return { metadata, inputs }
}

const textOf = (file: WindowedFile, from: number, to: number, wanted: number): string => {
  for (const { end, field, start } of fields(file, from, to)) if (field === wanted) return file.text(start, end)
  return ""
}

interface Field {
  readonly field: number
  /** Of the content. */
  readonly start: number
  readonly end: number
}

function* fields(file: WindowedFile, from: number, to: number): Generator<Field> {
  for (let at = from; at < to;) {
    const tag = file.varint(at)
    const [field, wire] = [Math.floor(tag.value / 8), tag.value % 8]
    const length = wire === 2 ? file.varint(tag.next) : undefined
    const start = length?.next ?? tag.next
    const end =
      length !== undefined
        ? start + length.value
        : wire === 0
          ? file.varint(start).next
          : wire === 1
            ? start + 8
            : wire === 5
              ? start + 4
              : Number.NaN
    if (field === 0 || !(end <= to)) throw new Damaged()
    yield { field, start, end }
    at = end
  }
}

/** Reads near places of a file of any size through one small window. */
class WindowedFile {
  readonly size: number
  readonly #descriptor: number
  readonly #window = Buffer.alloc(65_536)
  #start = 0
  #length = 0

  constructor(descriptor: number) {
    this.#descriptor = descriptor
    this.size = fstatSync(descriptor).size
  }

  varint(at: number): { readonly value: number; readonly next: number } {
    let value = 0
    for (let i = 0; i < 10; i++) {
      const byte = this.#byte(at + i)
      value += (byte & 127) * 2 ** (7 * i)
      if (byte < 128) return { value, next: at + i + 1 }
    }
    throw new Damaged()
  }

  text(start: number, end: number): string {
    if (end - start > mostText) throw new Damaged()
    const bytes = Buffer.alloc(end - start)
    readSync(this.#descriptor, bytes, 0, bytes.length, start)
    return bytes.toString("utf8")
  }

  #byte(at: number): number {
    if (at < this.#start || at >= this.#start + this.#length) {
      this.#start = at
      this.#length = readSync(this.#descriptor, this.#window, 0, this.#window.length, at)
      if (this.#length === 0) throw new Damaged()
    }
    return this.#window[at - this.#start] ?? 0
  }
}
