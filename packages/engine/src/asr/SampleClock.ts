// Tells at which moment of the call a sample arrived, from the arrival of the frames around it. The one
// origin of every time that counts from "the last voiced sample".

/** Positions in samples at `sampleRate`, times in milliseconds since the call began. */
export class SampleClock {
  /** Samples that have arrived. */
  count = 0
  private arrivedAt = 0
  private readonly perMs: number

  constructor(sampleRate: number) {
    this.perMs = sampleRate / 1000
  }

  arrived(samples: number, at: number): void {
    this.count += samples
    this.arrivedAt = at
  }

  /** Milliseconds since the call began at which the sample at `position` arrived. */
  timeOf(position: number): number {
    return this.arrivedAt - Math.max(0, this.count - position) / this.perMs
  }
}
