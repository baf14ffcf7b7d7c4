// The join request of `/rtc/v1`: a protobuf within a protobuf, usually gzipped. It comes from anybody, so it is unpacked
// within a bound and never throws.
import { JoinRequest, WrappedJoinRequest, WrappedJoinRequest_Compression } from "@livekit/protocol"
import { gunzipSync } from "node:zlib"

/** A join request unpacks to a few kilobytes; more is an attack on our memory. */
const maxUnpackedBytes = 256 * 1024

/** A base64url WrappedJoinRequest, gzipped or not; undefined when it cannot be read or unpacks to over 256 KiB. */
export const readJoinRequest = (text: string): JoinRequest | undefined => {
  try {
    const wrapped = WrappedJoinRequest.fromBinary(Buffer.from(text, "base64url"))
    const isPacked = wrapped.compression === WrappedJoinRequest_Compression.GZIP
    return JoinRequest.fromBinary(
      isPacked ? gunzipSync(wrapped.joinRequest, { maxOutputLength: maxUnpackedBytes }) : wrapped.joinRequest
    )
  } catch {
    return undefined
  }
}
