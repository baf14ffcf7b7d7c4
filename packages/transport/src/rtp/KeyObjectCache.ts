// Wraps each SRTP key in a KeyObject once. werift hands raw key bytes to node:crypto for every packet, and
// turning bytes into a key costs more than ciphering 160 bytes with it: a fourfold gain per packet.
// Process-wide by nature (live bindings of node:crypto), so it is narrow: only the ciphers of SRTP
// (RFC 3711, RFC 7714), only Buffers, which are keys that nobody writes to afterwards.
import crypto, { type CipherGCMTypes, type KeyObject } from "node:crypto"
import { syncBuiltinESMExports } from "node:module"

const srtpCiphers = new Set(["aes-128-ctr", "aes-128-gcm"])
const srtpHmacs = new Set(["sha1"])
const installed = Symbol.for("parley.KeyObjectCache")

/** Idempotent. In effect for every importer of node:crypto, also for those loaded before. */
export const installKeyObjectCache = (): void => {
  if (installed in crypto) return
  Object.defineProperty(crypto, installed, { value: true })

  const keys = new WeakMap<Buffer, KeyObject>()
  const keyOf = (bytes: Buffer): KeyObject => {
    const known = keys.get(bytes)
    if (known !== undefined) return known
    const made = crypto.createSecretKey(bytes)
    keys.set(bytes, made)
    return made
  }

  const { createCipheriv, createDecipheriv, createHmac } = crypto
  Object.assign(crypto, {
    createCipheriv: (algorithm: CipherGCMTypes, key: Buffer, iv: Buffer, options?: object) =>
      createCipheriv(algorithm, cached(algorithm, key, srtpCiphers) ? keyOf(key) : key, iv, options),
    createDecipheriv: (algorithm: CipherGCMTypes, key: Buffer, iv: Buffer, options?: object) =>
      createDecipheriv(algorithm, cached(algorithm, key, srtpCiphers) ? keyOf(key) : key, iv, options),
    createHmac: (algorithm: string, key: Buffer, options?: object) =>
      createHmac(algorithm, cached(algorithm, key, srtpHmacs) ? keyOf(key) : key, options)
  })
  syncBuiltinESMExports()
}

const cached = (algorithm: unknown, key: unknown, names: ReadonlySet<string>): key is Buffer =>
  typeof algorithm === "string" && names.has(algorithm) && Buffer.isBuffer(key) && key.length > 0

installKeyObjectCache()
