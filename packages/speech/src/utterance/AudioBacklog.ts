// Audio on its way to a recogniser in another process: small pushes are gathered into batches of 50 ms, and what the
// process could not work through in time is dropped. Plain calls, used on the media thread.

const batchSamples = 800
/** Audio sent and not yet worked through (30 s at 16 kHz); more is dropped. */
const backlogSamples = 16_000 * 30

/** One caller's audio, mono 16 kHz. `send` gets each batch as a copy that may be given away. */
export class AudioBacklog {
  readonly #send: (samples: Int16Array, utterance: number) => void
  readonly #batch = new Int16Array(batchSamples)
  #filled = 0
  #backlog = 0

  constructor(send: (samples: Int16Array, utterance: number) => void) {
    this.#send = send
  }

  /** Length of what was sent and not yet worked through, in milliseconds. */
  get backlogMs(): number {
    return this.#backlog / 16
  }

  push(samples: Int16Array, utterance: number): void {
    for (let at = 0; at < samples.length;) {
      const part = samples.subarray(at, at + batchSamples - this.#filled)
      this.#batch.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
      if (this.#filled === batchSamples) this.flush(utterance)
    }
  }

  /** Sends what was gathered so far. */
  flush(utterance: number): void {
    const samples = this.#batch.slice(0, this.#filled)
    this.#filled = 0
    if (samples.length === 0 || this.#backlog + samples.length > backlogSamples) return
    this.#backlog += samples.length
    this.#send(samples, utterance)
  }

  /** Forgets what was gathered and not sent. */
  clear(): void {
    this.#filled = 0
  }

  /** The process worked through this many samples. */
  digested(samples: number): void {
    this.#backlog = Math.max(0, this.#backlog - samples)
  }
}
