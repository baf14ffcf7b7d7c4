// One logical Ogg stream, page by page (RFC 3533, 6): packets go in, finished pages come out. A packet never spans
// pages here: a page is closed before one that would not fit, and no packet is longer than a page holds.
import { oggCrc } from "../decode/OggCrc.ts"

const mostSegments = 255
const headerBytes = 27
const flags = { first: 2, last: 4 }

/** Packets of one logical stream in, pages out (RFC 3533). */
export class OggWriter {
  readonly #serial: number
  #packets: Array<Uint8Array> = []
  #segments = 0
  #sequence = 0

  /** `serial`: any number of 32 bits, different for streams that may be joined to one file. */
  constructor(serial: number) {
    this.#serial = serial >>> 0
  }

  get packets(): number {
    return this.#packets.length
  }

  /** Whether the packet still fits on the open page. */
  fits(packet: Uint8Array): boolean {
    return this.#segments + segmentsOf(packet) <= mostSegments
  }

  add(packet: Uint8Array): void {
    if (!this.fits(packet)) throw new RangeError("the packet does not fit on the page")
    this.#packets.push(packet)
    this.#segments += segmentsOf(packet)
  }

  /** Closes the open page. `granule`: position after its last packet. */
  page(granule: number, last = false): Uint8Array {
    const bodyAt = headerBytes + this.#segments
    const page = new Uint8Array(bodyAt + this.#packets.reduce((sum, packet) => sum + packet.length, 0))
    const view = new DataView(page.buffer)
    page.set([0x4f, 0x67, 0x67, 0x53])
    page[5] = (this.#sequence === 0 ? flags.first : 0) | (last ? flags.last : 0)
    view.setBigInt64(6, BigInt(granule), true)
    view.setUint32(14, this.#serial, true)
    view.setUint32(18, this.#sequence++, true)
    page[26] = this.#segments
    let lace = headerBytes
    let at = bodyAt
    for (const packet of this.#packets) {
      const full = Math.floor(packet.length / 255)
      page.fill(255, lace, lace + full)
      page[lace + full] = packet.length % 255
      lace += full + 1
      page.set(packet, at)
      at += packet.length
    }
    view.setUint32(22, oggCrc(page), true)
    this.#packets = []
    this.#segments = 0
    return page
  }
}

const segmentsOf = (packet: Uint8Array): number => Math.floor(packet.length / 255) + 1
