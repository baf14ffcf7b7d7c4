// MessagePack from untrusted clients: bounded in every dimension before anything is made of it, maps become plain
// records without a prototype to poison, extension types are refused.
import { decode as decodeBytes, encode as encodeValue, ExtensionCodec } from "@msgpack/msgpack"
import { Result } from "effect"

/** Deeper than any body of ours. */
const deepest = 16

const options = {
  // No extension is registered: an unknown one decodes to ExtData and is refused below; a timestamp is a Date.
  extensionCodec: new ExtensionCodec(),
  maxStrLength: 32 * 2 ** 20,
  maxBinLength: 100 * 2 ** 20,
  maxArrayLength: 10_000,
  maxMapLength: 10_000,
  maxExtLength: 16,
  mapKeyConverter: (key: unknown): string => {
    if (typeof key !== "string" || key === "__proto__") throw new TypeError("a key must be a string")
    return key
  }
} as const

/** The bytes are no MessagePack, or hold what is not taken: too deep, an extension, a key that is no text. */
export class NotMessagePack extends Error {
  override readonly name = "NotMessagePack"
}

export const MessagePack = {
  encode: (value: unknown): Uint8Array => encodeValue(value, { ignoreUndefined: true }),
  /** Plain values; binary stays `Uint8Array`. Fails for anything else, whatever the bytes. */
  decode: (bytes: Uint8Array): Result.Result<unknown, NotMessagePack> => {
    try {
      const value = decodeBytes(bytes, options)
      return isPlain(value, deepest)
        ? Result.succeed(value)
        : Result.fail(new NotMessagePack("too deep or of a kind that is not taken"))
    } catch {
      return Result.fail(new NotMessagePack("cannot be decoded"))
    }
  }
} as const

const isPlain = (value: unknown, depth: number): boolean => {
  if (typeof value === "bigint") return false
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return true
  if (depth === 0) return false
  if (Array.isArray(value)) return value.every((item) => isPlain(item, depth - 1))
  if (Object.getPrototypeOf(value) !== Object.prototype) return false
  return Object.values(value).every((item) => isPlain(item, depth - 1))
}
