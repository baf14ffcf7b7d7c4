// The checksum of an Ogg page (RFC 3533, 6): polynomial 0x04c11db7, not reflected, begun with 0. The four bytes of
// the checksum itself (22 to 25) count as zero.

const checksumAt = 22

/** The checksum of a page (RFC 3533, 6). */
export const oggCrc = (page: Uint8Array): number => {
  let crc = 0
  for (let i = 0; i < page.length; i++) {
    const byte = i >= checksumAt && i < checksumAt + 4 ? 0 : page[i]!
    crc = ((crc << 8) ^ table[((crc >>> 24) ^ byte) & 255]!) >>> 0
  }
  return crc
}

const table = Uint32Array.from({ length: 256 }, (_, n) => {
  let crc = n << 24
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1
  return crc >>> 0
})
