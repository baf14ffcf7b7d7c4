// The signature of a delivery: `t` is the second of sending, `v1` the HMAC-SHA256 in hex over `t`, a dot
// and the raw body. Fresh for each attempt.
import { createHmac } from "node:crypto"

/** @param nowMs of sending; the receiver compares it with its own clock */
export const signatureOf = (secret: string, body: string, nowMs: number): string => {
  const t = Math.floor(nowMs / 1000)
  return `t=${t},v1=${createHmac("sha256", secret).update(`${t}.${body}`).digest("hex")}`
}
