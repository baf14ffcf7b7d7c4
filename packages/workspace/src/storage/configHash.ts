// The fingerprint of a configuration: `sha256:` and the hex digest of its canonical JSON (keys sorted, RFC 8785 in
// spirit), so that equal content has an equal hash however it was stored.
import { createHash } from "node:crypto"
import { canonical } from "./canonicalJson.ts"

/** `sha256:` and 64 hex digits. */
export const configHash = (config: unknown): string =>
  `sha256:${createHash("sha256").update(canonical(config)).digest("hex")}`
