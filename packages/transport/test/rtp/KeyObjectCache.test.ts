import * as named from "node:crypto"
import crypto from "node:crypto"
import { describe, expect, it } from "vitest"
import { installKeyObjectCache } from "../../src/rtp/KeyObjectCache.ts"

const native = { createCipheriv: crypto.createCipheriv, createHmac: crypto.createHmac }

const seal = (make: typeof native, key: Buffer, algorithm: "aes-128-ctr" | "aes-128-gcm" = "aes-128-ctr"): string =>
  make
    .createCipheriv(algorithm, key, Buffer.alloc(algorithm === "aes-128-gcm" ? 12 : 16, 3))
    .update("hello")
    .toString("hex") + make.createHmac("sha1", key).update("hello").digest("hex")

describe("KeyObjectCache", () => {
  it("is in effect for every importer of node:crypto, and only once", () => {
    const patched = crypto.createCipheriv
    expect(named.createCipheriv).toBe(patched)
    installKeyObjectCache()
    expect(crypto.createCipheriv).toBe(patched)
  })

  it("ciphers, deciphers and signs as before, first and later", () => {
    const key = Buffer.from("0123456789abcdef")
    const plainKey = new Uint8Array(key)
    const expected = seal(native, Buffer.from(plainKey))
    for (let i = 0; i < 3; i++) expect(seal(crypto, key)).toBe(expected)
    expect(seal(crypto, Buffer.from("fedcba9876543210"))).not.toBe(expected)
    const iv = Buffer.alloc(12, 9)
    for (let i = 0; i < 2; i++) {
      const cipher = crypto.createCipheriv("aes-128-gcm", key, iv)
      const sealed = Buffer.concat([cipher.update("secret"), cipher.final()])
      const decipher = crypto.createDecipheriv("aes-128-gcm", key, iv)
      decipher.setAuthTag(cipher.getAuthTag())
      expect(Buffer.concat([decipher.update(sealed), decipher.final()]).toString()).toBe("secret")
    }
  })

  it("wraps a key once: later packets make no key", () => {
    const key = Buffer.from("0123456789abcdef")
    const made = crypto.createSecretKey
    let count = 0
    crypto.createSecretKey = ((...args: Parameters<typeof made>) => {
      count++
      return made(...args)
    }) as typeof made
    for (let i = 0; i < 50; i++) seal(crypto, key)
    crypto.createSecretKey = made
    expect(count).toBe(1)
  })

  it("leaves other algorithms and other keys alone", () => {
    expect(crypto.createHmac("sha256", "text").update("x").digest("hex")).toBe(
      native.createHmac("sha256", "text").update("x").digest("hex")
    )
    expect(() => crypto.createCipheriv("aes-128-ctr", Buffer.alloc(3), Buffer.alloc(16))).toThrow()
  })
})
