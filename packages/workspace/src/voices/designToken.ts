// The signature of a designed recording: HMAC-SHA256 over the SHA-256 of its bytes, the candidate, the workspace and the
// time it ends. Opaque to callers: base64url of version, end (seconds), mac, candidate. Pure.
import { createHmac, timingSafeEqual } from "node:crypto"

const version = 1
/** Version, end, mac. */
const headBytes = 1 + 4 + 32

/** What a signature proves. */
export interface Design {
  readonly workspaceId: string
  readonly candidateId: string
  /** SHA-256 of the clip. */
  readonly digest: Uint8Array
  readonly endsMs: number
}

/** @param key of the installation */
export const signDesign = (key: Uint8Array, design: Design): string => {
  const head = Buffer.alloc(headBytes)
  head.writeUInt8(version)
  const ends = Math.floor(design.endsMs / 1000)
  head.writeUInt32BE(ends, 1)
  mac(key, design.workspaceId, design.candidateId, design.digest, ends).copy(head, 5)
  return Buffer.concat([head, Buffer.from(design.candidateId, "utf8")]).toString("base64url")
}

/** Whether the signature is right for this clip and workspace, and not over. */
export const verifyDesign = (
  key: Uint8Array,
  signature: string,
  claim: { readonly workspaceId: string; readonly digest: Uint8Array; readonly nowMs: number }
): boolean => {
  const bytes = Buffer.from(signature, "base64url")
  // One signature has one spelling.
  if (bytes.toString("base64url") !== signature) return false
  if (bytes.length <= headBytes || bytes.readUInt8() !== version) return false
  const ends = bytes.readUInt32BE(1)
  const candidate = bytes.subarray(headBytes).toString("utf8")
  const right = mac(key, claim.workspaceId, candidate, claim.digest, ends)
  return timingSafeEqual(right, bytes.subarray(5, headBytes)) && claim.nowMs < ends * 1000
}

/** JSON keeps the parts apart. */
const mac = (key: Uint8Array, workspaceId: string, candidateId: string, digest: Uint8Array, ends: number): Buffer =>
  createHmac("sha256", key)
    .update(JSON.stringify([version, workspaceId, candidateId, Buffer.from(digest).toString("hex"), ends]))
    .digest()
