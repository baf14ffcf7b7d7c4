// Sealing with one master key: AES-256-GCM, as `v2.` and base64url of nonce (12 bytes), tag (16) and ciphertext, bound to the
// owner of the value. Former keys still open what they sealed, and so do values without an owner (`v1.`) of earlier releases,
// until they are sealed again. Keys for other purposes are derived from the same master (HKDF-SHA256, RFC 5869).
import { Redacted } from "effect"
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"
import type { SecretOwner } from "./SecretOwner.ts"

/** Sealing and opening of one owner's secrets. */
export interface OwnedSecrets {
  /** Gives back `previous` when it already seals the same text. */
  readonly seal: (plain: string, previous: string | null) => string
  /** Dies on text that was not sealed for this owner by this key or a former one. */
  readonly open: (sealed: string) => Redacted.Redacted<string>
}

/** Sealing and opening of secrets. */
export interface SecretBox {
  readonly of: (owner: SecretOwner) => OwnedSecrets
  /** A text such as JSON, the values that `from` sealed within it sealed for `to`. */
  readonly moved: (text: string, from: SecretOwner, to: SecretOwner) => string
  /** The same, what a former key or an earlier release sealed for the owner sealed anew; `count` is how many. */
  readonly renewed: (text: string, owner: SecretOwner) => { readonly text: string; readonly count: number }
  /** Whether there are former keys. */
  readonly isRotating: boolean
  /** 32 bytes that only this installation knows, different for each purpose. */
  readonly derive: (purpose: string) => Redacted.Redacted<Uint8Array>
}

/** Opens the secrets of any owner. */
export type OpenSecrets = (owner: SecretOwner) => Pick<OwnedSecrets, "open">

/** What a box still opens besides what it seals. */
export interface Formerly {
  /** Masters that were used before. */
  readonly masters?: ReadonlyArray<Buffer>
  /** Whether values without an owner open. */
  readonly unbound?: boolean
}

const sealedValue = /v[12]\.[A-Za-z0-9_-]{38,}/g

/** @param master 32 bytes */
export const makeSecretBox = (master: Buffer, { masters = [], unbound = false }: Formerly = {}): SecretBox => {
  const key = sealingKey(master)
  const former = masters.filter((one) => !one.equals(master)).map(sealingKey)
  const keys = [key, ...former]
  const mayOpen = (sealed: string): boolean => unbound || sealed.startsWith("v2.")

  const opened = (sealed: string, owner: SecretOwner): string | undefined =>
    mayOpen(sealed) ? openedBy(sealed, owner, keys) : undefined

  const open = (sealed: string, owner: SecretOwner): string => {
    const plain = opened(sealed, owner)
    if (plain === undefined) throw new Error(`a sealed value does not open for ${owner.replace(/\/.*/, "")}`)
    return plain
  }
  const isCurrent = (sealed: string, owner: SecretOwner): boolean =>
    sealed.startsWith("v2.") && openedBy(sealed, owner, [key]) !== undefined

  return {
    of: (owner) => ({
      seal: (plain, previous) =>
        previous !== null && open(previous, owner) === plain ? previous : sealWith(key, plain, owner),
      open: (sealed) => Redacted.make(open(sealed, owner))
    }),
    moved: (text, from, to) =>
      text.replaceAll(sealedValue, (sealed) => {
        const plain = opened(sealed, from)
        return plain === undefined ? sealed : sealWith(key, plain, to)
      }),
    renewed: (text, owner) => {
      let count = 0
      const renewed = text.replaceAll(sealedValue, (sealed) => {
        const plain = isCurrent(sealed, owner) ? undefined : opened(sealed, owner)
        if (plain === undefined) return sealed
        count += 1
        return sealWith(key, plain, owner)
      })
      return { text: renewed, count }
    },
    isRotating: former.length > 0,
    derive: (purpose) => Redacted.make(new Uint8Array(hkdfSync("sha256", master, "", `parley/${purpose}`, 32)))
  }
}

const sealingKey = (master: Buffer): Buffer => Buffer.from(hkdfSync("sha256", master, "", "parley/secrets", 32))

const sealWith = (key: Buffer, plain: string, owner: SecretOwner): string => {
  const nonce = randomBytes(12)
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(owner))
  const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()])
  return `v2.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url")}`
}

/** Undefined when none of the keys sealed it for the owner. */
const openedBy = (sealed: string, owner: SecretOwner, keys: ReadonlyArray<Buffer>): string | undefined => {
  for (const key of keys) {
    try {
      return openWith(key, sealed, owner)
    } catch {
      // Another key may fit.
    }
  }
  return undefined
}

const openWith = (key: Buffer, sealed: string, owner: SecretOwner): string => {
  const bytes = Buffer.from(sealed.slice(3), "base64url")
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12))
  decipher.setAuthTag(bytes.subarray(12, 28))
  if (sealed.startsWith("v2.")) decipher.setAAD(Buffer.from(owner))
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString()
}
