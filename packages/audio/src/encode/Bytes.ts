// Pieces of bytes gathered into one array that belongs to whoever takes it.

/** Gathers pieces without copying them before `take`. */
export class Bytes {
  #pieces: Array<Uint8Array> = []

  /** The piece must not change until `take`. */
  add(piece: Uint8Array): void {
    if (piece.length > 0) this.#pieces.push(piece)
  }

  /** Everything added since the last time. */
  take(): Uint8Array {
    const out = new Uint8Array(this.#pieces.reduce((sum, piece) => sum + piece.length, 0))
    let at = 0
    for (const piece of this.#pieces) {
      out.set(piece, at)
      at += piece.length
    }
    this.#pieces = []
    return out
  }
}
