// The audio of one reply, waiting to be played: chunks in, 20 ms frames out, positions in samples since
// the reply's first. Plain calls on the media thread.
import { Resampler } from "@parley/audio/Resampler"

/** The producer pauses above this much audio ahead, and goes on below half of it. */
const aheadMs = 4_000

/** One reply's audio: filled by the synthesizer, emptied by the player. */
export class Playout {
  /** Samples handed to the leg so far. */
  played = 0
  /** Samples pushed so far. */
  pushed = 0
  /** Nothing more will be pushed. */
  complete = false
  /** Called whenever audio was added. */
  onAudio = (): void => {}

  readonly rate: number
  private readonly chunks: Array<Int16Array> = []
  private head = 0
  private resampler: Resampler | undefined
  private resamplerRate = 0
  private readonly onRoom: () => void
  /** Phrases on their way that are not pushed whole yet. */
  private awaited = 0
  private onSaid: (() => void) | undefined

  /** `onRoom` is called when the producer may go on. */
  constructor(rate: number, onRoom: () => void) {
    this.rate = rate
    this.onRoom = onRoom
  }

  /** Takes 16-bit mono PCM at any rate; copies it. Returns false when the producer should pause. */
  push(samples: Int16Array, sampleRate: number): boolean {
    if (this.resampler === undefined || this.resamplerRate !== sampleRate) {
      this.resampler = new Resampler(sampleRate, this.rate)
      this.resamplerRate = sampleRate
    }
    this.append(this.resampler.process(samples))
    return this.aheadMs < aheadMs
  }

  /** A phrase ended: what the resampler still holds belongs to it. */
  flush(): void {
    if (this.resampler !== undefined) this.append(this.resampler.flush())
    this.resampler = undefined
  }

  /** Audio that was pushed and not played yet. */
  get aheadMs(): number {
    return ((this.pushed - this.played) * 1000) / this.rate
  }

  /** Fills `frame`, zero-padded after the last sample; false when there is nothing to play. */
  read(frame: Int16Array): boolean {
    const available = this.pushed - this.played
    // A partial frame is only played at the very end: mid-reply the rest is still coming.
    if (available === 0 || (available < frame.length && !this.complete)) return false
    let filled = 0
    while (filled < frame.length) {
      const chunk = this.chunks[0]
      if (chunk === undefined) break
      const take = Math.min(frame.length - filled, chunk.length - this.head)
      frame.set(chunk.subarray(this.head, this.head + take), filled)
      filled += take
      this.head += take
      if (this.head === chunk.length) {
        this.chunks.shift()
        this.head = 0
      }
    }
    frame.fill(0, filled)
    const before = this.aheadMs
    this.played += filled
    if (before >= aheadMs / 2 && this.aheadMs < aheadMs / 2) this.onRoom()
    this.checkSaid()
    return true
  }

  /** A phrase is on its way to being pushed. */
  phraseBegun(): void {
    this.awaited++
  }

  /** All there is of the oldest such phrase was pushed. */
  phraseDone(): void {
    this.awaited--
    this.checkSaid()
  }

  /** A reply in text only: everything counts as played. */
  skip(): void {
    this.played = this.pushed
    this.checkSaid()
  }

  /** `tell` is called once, when everything pushed and on its way has been played; at once when it has. One at a time. */
  whenSaid(tell: () => void): void {
    this.onSaid = tell
    this.checkSaid()
  }

  /** Nothing is left to play and nothing more will come. */
  get drained(): boolean {
    return this.complete && this.played === this.pushed
  }

  private checkSaid(): void {
    if (this.onSaid === undefined || this.awaited > 0 || this.played < this.pushed) return
    const tell = this.onSaid
    this.onSaid = undefined
    tell()
  }

  private append(samples: Int16Array): void {
    if (samples.length === 0) return
    this.chunks.push(samples.slice())
    this.pushed += samples.length
    this.onAudio()
  }
}
