// How loud a track is, and its spectrum, for pictures. Measures without smoothing, so that silence shows at once.

const noData = new Uint8Array(0)

/** Volume and spectrum of one track. */
export class AudioMeter {
  #context: AudioContext | undefined
  #analyser: AnalyserNode | undefined
  #source: MediaStreamAudioSourceNode | undefined

  /** Measures this track from now on; undefined for none. */
  watch(track: MediaStreamTrack | undefined): void {
    this.#source?.disconnect()
    this.#source = undefined
    if (track === undefined) return
    this.#context ??= new AudioContext()
    this.#analyser ??= new AnalyserNode(this.#context, { fftSize: 1024, smoothingTimeConstant: 0 })
    this.#source = this.#context.createMediaStreamSource(new MediaStream([track]))
    this.#source.connect(this.#analyser)
  }

  /** Root mean square, 0 to 1. */
  volume(): number {
    if (this.#analyser === undefined || this.#source === undefined) return 0
    const samples = new Float32Array(this.#analyser.fftSize)
    this.#analyser.getFloatTimeDomainData(samples)
    return Math.min(1, Math.sqrt(samples.reduce((sum, s) => sum + s * s, 0) / samples.length))
  }

  /** 512 bins up to half the context's rate, 0 to 255. */
  frequencies(): Uint8Array {
    if (this.#analyser === undefined || this.#source === undefined) return noData
    const bins = new Uint8Array(this.#analyser.frequencyBinCount)
    this.#analyser.getByteFrequencyData(bins)
    return bins
  }

  resume(): Promise<void> {
    return this.#context?.resume() ?? Promise.resolve()
  }

  close(): void {
    this.watch(undefined)
    void this.#context?.close().catch(() => undefined)
    this.#context = undefined
    this.#analyser = undefined
  }
}
