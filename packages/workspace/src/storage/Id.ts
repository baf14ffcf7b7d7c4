// Identifiers: opaque to everyone, a readable prefix and 100 random bits.
import { randomBytes } from "node:crypto"

const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz"

/** `prefix_` and 20 letters or digits. */
export const newId = (prefix: string): string => {
  let id = ""
  while (id.length < 20) {
    for (const byte of randomBytes(32)) if (byte < 252 && id.length < 20) id += alphabet[byte % 36]
  }
  return `${prefix}_${id}`
}
