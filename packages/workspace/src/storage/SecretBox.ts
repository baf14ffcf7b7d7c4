// Sealing with one master key: AES-256-GCM, as `v1.` and base64url of nonce (12 bytes), tag (16) and ciphertext. Former keys
// still open what they sealed, until it is sealed again. Keys for other purposes are derived from the same master
// (HKDF-SHA256, RFC 5869).
import { Redacted } from "effect"
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"

/** Sealing and opening of secrets. */
export interface SecretBox {
  /** Gives back `previous` when it already seals the same text. */
  readonly seal: (plain: string, previous: string | null) => string
  /** Dies on text that neither this key nor a former one sealed. */
  readonly open: (sealed: string) => Redacted.Redacted<string>
  /** Sealed again by this key; undefined for what a former key did not seal, whatever it is. */
  readonly renew: (sealed: string) => string | undefined
  /** Whether there are former keys. */
  readonly isRotating: boolean
  /** 32 bytes that only this installation knows, different for each purpose. */
  readonly derive: (purpose: string) => Redacted.Redacted<Uint8Array>
}

/** @param master 32 bytes; @param former masters that were used before */
export const makeSecretBox = (master: Buffer, former: ReadonlyArray<Buffer> = []): SecretBox => {
  const key = sealingKey(master)
  const formerKeys = former.filter((one) => !one.equals(master)).map(sealingKey)

  const seal = (plain: string): string => {
    const nonce = randomBytes(12)
    const cipher = createCipheriv("aes-256-gcm", key, nonce)
    const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()])
    return `v1.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url")}`
  }
  const open = (sealed: string): string => openedBy(sealed, formerKeys) ?? openWith(key, sealed)

  return {
    seal: (plain, previous) => (previous !== null && open(previous) === plain ? previous : seal(plain)),
    open: (sealed) => Redacted.make(open(sealed)),
    renew: (sealed) => {
      const plain = openedBy(sealed, formerKeys)
      return plain === undefined ? undefined : seal(plain)
    },
    isRotating: formerKeys.length > 0,
    derive: (purpose) => Redacted.make(new Uint8Array(hkdfSync("sha256", master, "", `parley/${purpose}`, 32)))
  }
}

const sealingKey = (master: Buffer): Buffer => Buffer.from(hkdfSync("sha256", master, "", "parley/secrets", 32))

/** Throws on text that the key did not seal. */
const openWith = (key: Buffer, sealed: string): string => {
  const bytes = Buffer.from(sealed.slice(3), "base64url")
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12))
  decipher.setAuthTag(bytes.subarray(12, 28))
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString()
}

/** Undefined when none of the keys sealed it. */
const openedBy = (sealed: string, keys: ReadonlyArray<Buffer>): string | undefined => {
  for (const key of keys) {
    try {
      return openWith(key, sealed)
    } catch {
      // Another key may fit.
    }
  }
  return undefined
}
