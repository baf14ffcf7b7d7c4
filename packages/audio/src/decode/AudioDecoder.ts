// The port of streaming decoders: bytes of one file in, mono samples out. Bytes are untrusted: whatever they are, a
// decoder throws nothing but `DecodeFault` on purpose; another error means the same to its owner: damaged.

/** Mono samples at the rate of the file, which may change inside it. */
export interface Decoded {
  readonly sampleRate: number
  readonly samples: Int16Array
}

/** The port of a file decoder: pieces of one file in, samples out. */
export interface AudioDecoder {
  /** Most bytes to give at once, so that no piece becomes very much sound. */
  readonly pieceBytes: number
  readonly decode: (bytes: Uint8Array) => Promise<ReadonlyArray<Decoded>> | ReadonlyArray<Decoded>
  /** What was held back. Throws when the file holds no sound that can be decoded. */
  readonly finish: () => Promise<ReadonlyArray<Decoded>> | ReadonlyArray<Decoded>
  /** Gives the codec's memory back. */
  readonly close: () => void
}

/**
 * `NotAudio`: no known container; `Unsupported`: known, but not decoded here; `Damaged`: cut or against its
 * format.
 */
export type DecodeFaultReason = "NotAudio" | "Unsupported" | "Damaged"

/** Thrown for a file that cannot be decoded; its message is for people. */
export class DecodeFault extends Error {
  override readonly name = "DecodeFault"
  readonly reason: DecodeFaultReason
  constructor(reason: DecodeFaultReason, message: string) {
    super(message)
    this.reason = reason
  }
}
