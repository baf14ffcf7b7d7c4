// The samples since the last commit, bounded: of a long utterance (or a long silence before one) the newest part
// is kept, and how much was dropped is known, so that word times stay true.

const mostSamples = 16_000 * 120
const pieceSamples = 16_000

/** One stream's samples, mono 16 kHz. */
export class UtteranceBuffer {
  #pieces: Array<Int16Array> = []
  #filled = pieceSamples
  #dropped = 0

  /** Copies. */
  push(samples: Int16Array): void {
    for (let at = 0; at < samples.length;) {
      let piece = this.#pieces.at(-1)
      if (piece === undefined || this.#filled === pieceSamples) {
        piece = new Int16Array(pieceSamples)
        this.#pieces.push(piece)
        this.#filled = 0
        if (this.#pieces.length * pieceSamples > mostSamples) {
          this.#pieces.shift()
          this.#dropped += pieceSamples
        }
      }
      const part = samples.subarray(at, at + pieceSamples - this.#filled)
      piece.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
    }
  }

  /** Everything kept, and an empty buffer. */
  take(): { readonly samples: Int16Array; readonly droppedMs: number } {
    const length = this.#pieces.length === 0 ? 0 : (this.#pieces.length - 1) * pieceSamples + this.#filled
    const samples = new Int16Array(length)
    for (const [i, piece] of this.#pieces.entries()) {
      samples.set(piece.subarray(0, Math.min(pieceSamples, length - i * pieceSamples)), i * pieceSamples)
    }
    const droppedMs = this.#dropped / 16
    this.#pieces = []
    this.#filled = pieceSamples
    this.#dropped = 0
    return { samples, droppedMs }
  }
}
