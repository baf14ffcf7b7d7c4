// Sealing with one master key: AES-256-GCM, as `v1.` and base64url of nonce (12 bytes), tag (16) and ciphertext. Keys for
// other purposes are derived from the same master (HKDF-SHA256, RFC 5869).
import { Redacted } from "effect"
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"

/** Sealing and opening of secrets. */
export interface SecretBox {
  /** Gives back `previous` when it already seals the same text. */
  readonly seal: (plain: string, previous: string | null) => string
  /** Dies on text that this key did not seal. */
  readonly open: (sealed: string) => Redacted.Redacted<string>
  /** 32 bytes that only this installation knows, different for each purpose. */
  readonly derive: (purpose: string) => Redacted.Redacted<Uint8Array>
}

/** @param master 32 bytes */
export const makeSecretBox = (master: Buffer): SecretBox => {
  const key = Buffer.from(hkdfSync("sha256", master, "", "parley/secrets", 32))
  const open = (sealed: string): string => {
    const bytes = Buffer.from(sealed.slice(3), "base64url")
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12))
    decipher.setAuthTag(bytes.subarray(12, 28))
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString()
  }
  return {
    seal: (plain, previous) => {
      if (previous !== null && open(previous) === plain) return previous
      const nonce = randomBytes(12)
      const cipher = createCipheriv("aes-256-gcm", key, nonce)
      const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()])
      return `v1.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url")}`
    },
    open: (sealed) => Redacted.make(open(sealed)),
    derive: (purpose) => Redacted.make(new Uint8Array(hkdfSync("sha256", master, "", `parley/${purpose}`, 32)))
  }
}
