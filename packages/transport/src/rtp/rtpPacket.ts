// RTP on the wire (RFC 3550, 5.1): read from strangers, written into a buffer of one's own. Pure.

/** The fields of RFC 3550, 5.1, that we use. */
export interface RtpHeader {
  readonly payloadType: number
  readonly marker: boolean
  readonly sequence: number
  readonly timestamp: number
  readonly ssrc: number
}

/** A packet that was read. */
export interface RtpRead extends RtpHeader {
  /** A view into the packet. */
  readonly payload: Buffer
}

/** Bytes of a header without CSRCs and extension. */
export const headerBytes = 12

/** RTP and RTCP on one port are told apart by the second byte (RFC 5761, 4). */
export const isRtcp = (packet: Buffer): boolean =>
  packet.length >= 8 && (packet[0] ?? 0) >> 6 === 2 && (packet[1] ?? 0) >= 192 && (packet[1] ?? 0) <= 223

/** Undefined for anything that is no RTP packet. */
export const readRtp = (packet: Buffer): RtpRead | undefined => {
  const first = packet[0] ?? 0
  if (packet.length < headerBytes || first >> 6 !== 2) return undefined
  let begin = headerBytes + 4 * (first & 0x0f)
  if ((first & 0x10) !== 0) {
    if (packet.length < begin + 4) return undefined
    begin += 4 + 4 * packet.readUInt16BE(begin + 2)
  }
  const padding = (first & 0x20) === 0 ? 0 : (packet[packet.length - 1] ?? 0)
  const end = packet.length - padding
  if (begin > end) return undefined
  const second = packet[1] ?? 0
  return {
    payloadType: second & 0x7f,
    marker: second >= 0x80,
    sequence: packet.readUInt16BE(2),
    timestamp: packet.readUInt32BE(4),
    ssrc: packet.readUInt32BE(8),
    payload: packet.subarray(begin, end)
  }
}

/** Into the first twelve bytes of `out`. */
export const writeRtpHeader = (out: Buffer, header: RtpHeader): void => {
  out[0] = 0x80
  out[1] = header.payloadType | (header.marker ? 0x80 : 0)
  out.writeUInt16BE(header.sequence, 2)
  out.writeUInt32BE(header.timestamp, 4)
  out.writeUInt32BE(header.ssrc, 8)
}
