// Small pushes of audio gathered into frames of 100 ms, so that a socket is not asked fifty times a second.

const batchSamples = 1600

/** One stream of samples, mono 16 kHz. */
export class PcmBatches {
  readonly #batch = new Int16Array(batchSamples)
  readonly #send: (samples: Int16Array) => void
  #filled = 0

  /** `send` gets samples that are reused afterwards. */
  constructor(send: (samples: Int16Array) => void) {
    this.#send = send
  }

  push(samples: Int16Array): void {
    for (let at = 0; at < samples.length;) {
      const part = samples.subarray(at, at + batchSamples - this.#filled)
      this.#batch.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
      if (this.#filled === batchSamples) this.flush()
    }
  }

  flush(): void {
    if (this.#filled === 0) return
    this.#send(this.#batch.subarray(0, this.#filled))
    this.#filled = 0
  }
}
