// The name of a recorded file: base64url of version, end (seconds), mac and track, then `.ogg`. HMAC-SHA256 with a key only
// this installation knows. Pure.
import { createHmac, timingSafeEqual } from "node:crypto"

const version = 1
const extension = ".ogg"
/** Version, end, mac. */
const headBytes = 1 + 4 + 32

/** The name of the track's file, valid until `endSeconds` (Unix time). */
export const signLink = (key: Uint8Array, trackId: string, endSeconds: number): string => {
  const head = Buffer.alloc(headBytes)
  head.writeUInt8(version)
  head.writeUInt32BE(endSeconds, 1)
  head.set(mac(key, trackId, endSeconds), 5)
  return Buffer.concat([head, Buffer.from(trackId, "utf8")]).toString("base64url") + extension
}

/** The track's id, or undefined. */
export const verifyLink = (key: Uint8Array, file: string, nowMs: number): string | undefined => {
  if (!file.endsWith(extension)) return undefined
  const token = file.slice(0, -extension.length)
  const bytes = Buffer.from(token, "base64url")
  // One link has one spelling.
  if (bytes.toString("base64url") !== token || bytes.length <= headBytes || bytes[0] !== version) return undefined
  const endSeconds = bytes.readUInt32BE(1)
  const trackId = bytes.subarray(headBytes).toString("utf8")
  const right = timingSafeEqual(mac(key, trackId, endSeconds), bytes.subarray(5, headBytes))
  return right && nowMs < endSeconds * 1000 ? trackId : undefined
}

/** JSON keeps the parts apart. */
const mac = (key: Uint8Array, trackId: string, endSeconds: number): Buffer =>
  createHmac("sha256", key)
    .update(JSON.stringify([version, trackId, endSeconds]))
    .digest()
