// One file on its way to samples: read piece by piece, decoded, converted to the wanted rate, cut into blocks of at
// most a second. A block is given when it is full or when a share of time is used up, so that slots take turns.
import { closeSync, openSync, readSync } from "node:fs"
import type { AudioDecoder, Decoded } from "@parley/audio/decode/AudioDecoder"
import { containerBytes, containerOf } from "@parley/audio/decode/containerOf"
import type { Container } from "@parley/audio/decode/containerOf"
import { makeAudioDecoder } from "@parley/audio/decode/makeAudioDecoder"
import { Resampler } from "@parley/audio/Resampler"

/** Longest work on one block before it is given as it is. */
const turnMs = 50
/** Terms of a ratio of rates that has no small one: wrong by less than a thousandth. */
const mostTerm = 441

/** One file. Throws `DecodeFault` where it cannot be decoded. */
export class FileDecoding {
  readonly container: Container
  readonly #fd: number
  readonly #rate: number
  #decoder: AudioDecoder | undefined
  #resampler: Resampler | undefined
  #sourceRate = 0
  #piece = new Uint8Array(0)
  #ended = false
  readonly #ready: Array<Int16Array> = []
  #readySamples = 0

  constructor(file: string, sampleRate: number) {
    this.#rate = sampleRate
    this.#fd = openSync(file, "r")
    try {
      const start = new Uint8Array(containerBytes)
      this.container = containerOf(start.subarray(0, readSync(this.#fd, start, 0, start.length, 0)))
    } catch (error) {
      closeSync(this.#fd)
      throw error
    }
  }

  async next(): Promise<{ readonly samples: Int16Array; readonly isLast: boolean }> {
    const until = performance.now() + turnMs
    this.#decoder ??= await this.#open()
    while (!this.#ended && this.#readySamples < this.#rate && performance.now() < until) {
      const length = readSync(this.#fd, this.#piece, 0, this.#piece.length, null)
      if (length > 0) this.#take(await this.#decoder.decode(this.#piece.subarray(0, length)))
      else {
        this.#take(await this.#decoder.finish())
        this.#keep(this.#resampler?.flush() ?? new Int16Array(0))
        this.#ended = true
      }
    }
    const samples = this.#block()
    return { samples, isLast: this.#ended && this.#readySamples === 0 }
  }

  close(): void {
    this.#decoder?.close()
    closeSync(this.#fd)
  }

  async #open(): Promise<AudioDecoder> {
    const decoder = await makeAudioDecoder(this.container, this.#rate)
    this.#piece = new Uint8Array(decoder.pieceBytes)
    return decoder
  }

  #take(decoded: ReadonlyArray<Decoded>): void {
    for (const { sampleRate, samples } of decoded) {
      if (samples.length === 0) continue
      if (sampleRate !== this.#sourceRate) {
        this.#keep(this.#resampler?.flush() ?? new Int16Array(0))
        this.#resampler = resamplerOf(sampleRate, this.#rate)
        this.#sourceRate = sampleRate
      }
      this.#keep(this.#resampler?.process(samples) ?? samples)
    }
  }

  /** The resampler overwrites its output with the next call. */
  #keep(samples: Int16Array): void {
    if (samples.length === 0) return
    this.#ready.push(samples.slice())
    this.#readySamples += samples.length
  }

  #block(): Int16Array {
    const block = new Int16Array(Math.min(this.#readySamples, this.#rate))
    let at = 0
    while (at < block.length) {
      const first = this.#ready[0]!
      const part = first.subarray(0, block.length - at)
      block.set(part, at)
      at += part.length
      if (part.length === first.length) this.#ready.shift()
      else this.#ready[0] = first.subarray(part.length)
    }
    this.#readySamples -= block.length
    return block
  }
}

/** A recording may have any rate; where the exact ratio has no small terms the nearest one that has is taken. */
const resamplerOf = (fromRate: number, toRate: number): Resampler => {
  try {
    return new Resampler(fromRate, toRate)
  } catch {
    const ratio = toRate / fromRate
    let best = { from: 1, to: Math.max(1, Math.round(ratio)) }
    for (let from = 1; from <= mostTerm; from++) {
      const to = Math.max(1, Math.round(from * ratio))
      if (to > mostTerm) break
      if (Math.abs(to / from - ratio) < Math.abs(best.to / best.from - ratio)) best = { from, to }
    }
    return new Resampler(best.from, best.to)
  }
}
