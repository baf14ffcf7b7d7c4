// SRTP of a call with keys from its signalling (RFC 3711, RFC 4568): AES-CM with an 80-bit tag. werift's contexts do
// the ciphering; a packet that does not authenticate is nothing, never an exception.
import { randomBytes } from "node:crypto"
import { RtpHeader, SrtcpSession, SrtpSession } from "werift"
import { installKeyObjectCache } from "./KeyObjectCache.ts"

installKeyObjectCache()

/** SRTP_AES128_CM_HMAC_SHA1_80 (RFC 5764, 4.1.2). */
const profile = 1
const masterKeyBytes = 16

/** Both directions of a secure call; `open` gives undefined for what does not authenticate. */
export interface Srtp {
  readonly open: (packet: Buffer) => Buffer | undefined
  readonly openControl: (packet: Buffer) => Buffer | undefined
  readonly seal: (packet: Buffer) => Buffer
  readonly sealControl: (packet: Buffer) => Buffer
}

/** Master key and salt. */
export const makeKey = (): Buffer => randomBytes(30)

/** From 30 bytes each: 16 of master key, 14 of salt (RFC 4568, 6.1). */
export const makeSrtp = (ours: Buffer, theirs: Buffer): Srtp => {
  const keys = {
    localMasterKey: ours.subarray(0, masterKeyBytes),
    localMasterSalt: ours.subarray(masterKeyBytes),
    remoteMasterKey: theirs.subarray(0, masterKeyBytes),
    remoteMasterSalt: theirs.subarray(masterKeyBytes)
  }
  const rtp = new SrtpSession({ keys, profile })
  const rtcp = new SrtcpSession({ keys, profile })
  return {
    open: (packet) => attempt(() => rtp.decrypt(packet)),
    openControl: (packet) => attempt(() => rtcp.decrypt(packet)),
    seal: (packet) => rtp.encrypt(packet.subarray(12), RtpHeader.deSerialize(packet)),
    sealControl: (packet) => rtcp.encrypt(packet)
  }
}

const attempt = (decipher: () => Buffer): Buffer | undefined => {
  try {
    return decipher()
  } catch {
    return undefined
  }
}
