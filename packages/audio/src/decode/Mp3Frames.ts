// The frames of an MP3 stream (ISO 11172-3, 2.4; ISO 13818-3 for the low rates): tags and junk are passed over, and
// only frames that stand where their neighbours say reach the decoder, which therefore never searches by itself.

/** What a frame's header says: its length in bytes, its rate in Hz, its samples. */
export interface Mp3Frame {
  readonly bytes: number
  readonly sampleRate: number
  readonly samples: number
}

const kbpsVersion1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const kbpsVersion2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
const rates: Readonly<Record<number, ReadonlyArray<number>>> = {
  0: [11025, 12000, 8000],
  2: [22050, 24000, 16000],
  3: [44100, 48000, 32000]
}

/** The layer III frame whose header is at `at`; undefined when there is none. Free format is not read. */
export const mp3FrameOf = (bytes: Uint8Array, at: number): Mp3Frame | undefined => {
  if (at + 4 > bytes.length || bytes[at] !== 0xff || (bytes[at + 1]! & 0xe6) !== 0xe2) return undefined
  const version = (bytes[at + 1]! >> 3) & 3
  const sampleRate = rates[version]?.[(bytes[at + 2]! >> 2) & 3]
  const kbps = (version === 3 ? kbpsVersion1 : kbpsVersion2)[bytes[at + 2]! >> 4]
  if (sampleRate === undefined || !kbps) return undefined
  const samples = version === 3 ? 1152 : 576
  const padding = (bytes[at + 2]! >> 1) & 1
  return { bytes: Math.floor((samples / 8) * ((kbps * 1000) / sampleRate)) + padding, sampleRate, samples }
}

/** Bytes in pieces of any length in, whole frames out. */
export class Mp3Frames {
  #held = new Uint8Array(0)
  /** Bytes of a tag that is passed over. */
  #skip = 0
  #begun = false
  #found = 0

  /** Frames given so far. */
  get found(): number {
    return this.#found
  }

  /** Whole frames, each followed by another or by the end (`last`). */
  push(bytes: Uint8Array, last = false): ReadonlyArray<Uint8Array> {
    const all = new Uint8Array(this.#held.length + bytes.length)
    all.set(this.#held)
    all.set(bytes, this.#held.length)
    const frames: Array<Uint8Array> = []
    let at = 0
    while (at < all.length) {
      const passed = Math.min(this.#skip, all.length - at)
      at += passed
      this.#skip -= passed
      if (all.length - at < 10 && !last) break
      const tag = tagBytes(all, at, !this.#begun)
      this.#begun = true
      if (tag > 0) {
        this.#skip = tag
        continue
      }
      const frame = mp3FrameOf(all, at)
      if (frame === undefined) {
        at++
        continue
      }
      const next = at + frame.bytes
      if (next + 4 > all.length && !last) break
      if (next > all.length) break
      const follower = mp3FrameOf(all, next)
      // The last frame has no follower, nor has one before a tag or a torn place: it needs one before it then.
      const stands =
        follower === undefined ? frames.length > 0 || this.#found > 0 : follower.sampleRate === frame.sampleRate
      if (!stands) {
        at++
        continue
      }
      frames.push(all.slice(at, next))
      at = next
    }
    this.#held = all.slice(Math.min(at, all.length))
    this.#found += frames.length
    return frames
  }
}

/** Length of an ID3v2 tag at the beginning, or of the ID3v1 tag, which is 128 bytes. */
const tagBytes = (bytes: Uint8Array, at: number, atStart: boolean): number => {
  const three = String.fromCharCode(...bytes.subarray(at, at + 3))
  if (three === "TAG") return 128
  if (three !== "ID3" || !atStart || at + 10 > bytes.length) return 0
  const size = bytes.subarray(at + 6, at + 10).reduce((sum, byte) => sum * 128 + (byte & 127), 0)
  return 10 + size + (bytes[at + 5]! & 0x10 ? 10 : 0)
}
