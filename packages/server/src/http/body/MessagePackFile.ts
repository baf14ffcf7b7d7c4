// The top-level map of a MessagePack body that lies in a file: small values are read, binary ones are only located,
// so that a long recording is never in memory. Anything but a flat map of text, numbers, booleans, null and binary is
// refused (MessagePack specification, "Formats").
import { Result } from "effect"
import { closeSync, openSync, readSync } from "node:fs"
import { NotMessagePack } from "./MessagePack.ts"

export type Scalar = string | number | boolean | null

/** Where a binary value lies in the file, in bytes. */
export interface BinaryPlace {
  readonly offset: number
  readonly length: number
}

/** The values of the map: the small ones read, the binary ones located. */
export interface FlatMap {
  readonly values: ReadonlyMap<string, Scalar>
  readonly binaries: ReadonlyMap<string, BinaryPlace>
}

const mostKeys = 64
const longestText = 64 * 1024

/** Reads at most 64 keys and texts of at most 64 KiB; anything else is NotMessagePack. Throws when the file cannot be read. */
export const readFlatMap = (path: string): Result.Result<FlatMap, NotMessagePack> => {
  const file = openSync(path, "r")
  try {
    return Result.succeed(new Walk(file).map())
  } catch (error) {
    if (error instanceof NotMessagePack) return Result.fail(error)
    throw error
  } finally {
    closeSync(file)
  }
}

class Walk {
  readonly #file: number
  #at = 0

  constructor(file: number) {
    this.#file = file
  }

  map(): FlatMap {
    const values = new Map<string, Scalar>()
    const binaries = new Map<string, BinaryPlace>()
    for (let left = this.#mapSize(); left > 0; left--) {
      const key = this.#value()
      if (typeof key !== "string" || values.has(key) || binaries.has(key)) throw new NotMessagePack("a bad key")
      const value = this.#value()
      if (isBinary(value)) binaries.set(key, value)
      else values.set(key, value)
    }
    if (this.#read(1).length !== 0) throw new NotMessagePack("something follows the map")
    return { values, binaries }
  }

  #mapSize(): number {
    const tag = this.#byte()
    const size = (tag & 0xf0) === 0x80 ? tag & 0x0f : tag === 0xde ? this.#take(2).readUInt16BE() : -1
    if (size < 0 || size > mostKeys) throw new NotMessagePack("not a small map")
    return size
  }

  #value(): Scalar | BinaryPlace {
    const tag = this.#byte()
    if (tag < 0x80) return tag
    if (tag >= 0xe0) return tag - 0x100
    if ((tag & 0xe0) === 0xa0) return this.#text(tag & 0x1f)
    switch (tag) {
      case 0xc0:
        return null
      case 0xc2:
        return false
      case 0xc3:
        return true
      case 0xc4:
        return this.#binary(this.#byte())
      case 0xc5:
        return this.#binary(this.#take(2).readUInt16BE())
      case 0xc6:
        return this.#binary(this.#take(4).readUInt32BE())
      case 0xca:
        return this.#take(4).readFloatBE()
      case 0xcb:
        return this.#take(8).readDoubleBE()
      case 0xcc:
        return this.#byte()
      case 0xcd:
        return this.#take(2).readUInt16BE()
      case 0xce:
        return this.#take(4).readUInt32BE()
      case 0xd0:
        return this.#take(1).readInt8()
      case 0xd1:
        return this.#take(2).readInt16BE()
      case 0xd2:
        return this.#take(4).readInt32BE()
      case 0xd9:
        return this.#text(this.#byte())
      case 0xda:
        return this.#text(this.#take(2).readUInt16BE())
    }
    throw new NotMessagePack("a value of a kind that is not taken")
  }

  #text(length: number): string {
    if (length > longestText) throw new NotMessagePack("a text is too long")
    return this.#take(length).toString()
  }

  #binary(length: number): BinaryPlace {
    const place = { offset: this.#at, length }
    this.#at += length - 1
    // The last byte must be there.
    if (length === 0) this.#at += 1
    else this.#byte()
    return place
  }

  #byte(): number {
    return this.#take(1).readUInt8()
  }

  #take(length: number): Buffer {
    const bytes = this.#read(length)
    if (bytes.length < length) throw new NotMessagePack("cut short")
    return bytes
  }

  #read(length: number): Buffer {
    const bytes = Buffer.alloc(length)
    const read = readSync(this.#file, bytes, 0, length, this.#at)
    this.#at += read
    return bytes.subarray(0, read)
  }
}

const isBinary = (value: Scalar | BinaryPlace): value is BinaryPlace => typeof value === "object" && value !== null
