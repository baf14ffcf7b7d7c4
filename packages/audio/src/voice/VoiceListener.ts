// Listens to a recording piece by piece and says what its voice is like: pitch, spread, pace, colour, level,
// clipping. Keeps three numbers per 20 ms and one spectrum, so an hour of sound is a few megabytes.
import { dbfs } from "../Level.ts"
import { PowerSpectrum } from "./Fft.ts"
import { pitchOf, pitchRate, pitchWindow } from "./Pitch.ts"
import { colourBandsHz } from "./VoiceProfile.ts"
import type { VoiceProfile } from "./VoiceProfile.ts"

/** The rate that `hear` wants. */
export const listeningRate = 16000

/** What was learnt of the voice, and how good the recording is. */
export interface VoiceReport {
  readonly durationMs: number
  readonly voicedMs: number
  /** Root mean square of the voiced parts and the largest sample, dBFS. */
  readonly levelDbfs: number
  readonly peakDbfs: number
  /** Share of samples at full scale, 0 to 1. */
  readonly clipped: number
  readonly profile: VoiceProfile
}

const hop = 320
const frameMs = (1000 * hop) / listeningRate
const window = pitchWindow * (listeningRate / pitchRate)
const spectrumSize = 512
const fullScale = 32700
/** Below it nothing is a voice (-50 dBFS), nor what is 35 dB below the loudest frames. */
const quietest = 0.003
const rangeDb = 35
const leastClarity = 0.6
/** Between two syllables the envelope falls by this much. */
const dipDb = 2
/** Syllables a second of the embedded voices, by this very measure. */
const embeddedPace = 4
/** Long-term spectrum of the embedded voices in dB, by this very measure, mean 0. */
const embeddedColour: ReadonlyArray<number> = [17.8, 22.1, 15, 13.3, 3.6, -1.3, -7, -11, -24.1, -28.3]
/** Where the tract of a voice is taken for average. */
const averagePitchHz = 150

/** Listens to mono samples at `listeningRate`, in pieces of any length. */
export class VoiceListener {
  readonly #spectrum = new PowerSpectrum(spectrumSize)
  readonly #power = new Float64Array(spectrumSize / 2)
  readonly #levels: Array<number> = []
  readonly #pitches: Array<number> = []
  readonly #halved = new Float64Array(pitchWindow)
  #held = new Int16Array(0)
  #samples = 0
  #peak = 0
  #full = 0

  /** Mono samples at `listeningRate`, in pieces of any size. */
  hear(samples: Int16Array): void {
    this.#samples += samples.length
    for (let i = 0; i < samples.length; i++) {
      const magnitude = Math.abs(samples[i]!)
      if (magnitude > this.#peak) this.#peak = magnitude
      if (magnitude >= fullScale) this.#full++
    }
    const all = new Int16Array(this.#held.length + samples.length)
    all.set(this.#held)
    all.set(samples, this.#held.length)
    let at = 0
    for (; at + window <= all.length; at += hop) this.#frame(all.subarray(at, at + window))
    this.#held = all.slice(at)
  }

  report(): VoiceReport {
    const loud = percentile(this.#levels, 0.95)
    const gate = Math.max(quietest, loud * 10 ** (-rangeDb / 20))
    const voiced = this.#levels.map((level, frame) => level >= gate && this.#pitches[frame]! > 0)
    const pitches = this.#pitches.filter((_, frame) => voiced[frame])
    const pitchHz = percentile(pitches, 0.5)
    const near = pitches.filter((hz) => hz < 1.6 * pitchHz && hz > pitchHz / 1.6)
    const powers = this.#levels.filter((_, frame) => voiced[frame]).map((level) => level * level)
    return {
      durationMs: (1000 * this.#samples) / listeningRate,
      voicedMs: pitches.length * frameMs,
      levelDbfs: dbfs(Math.sqrt(mean(powers))),
      peakDbfs: dbfs(this.#peak / 32768),
      clipped: this.#samples === 0 ? 0 : this.#full / this.#samples,
      profile: {
        pitchHz,
        pitchSpreadHz: Math.sqrt(variance(near)),
        pace: clamp(syllablesPerSecond(this.#levels, gate) / embeddedPace, 0.7, 1.4),
        // Long tracts go with deep voices; the recording alone does not tell the tract from the words.
        tract: pitchHz === 0 ? 1 : clamp((pitchHz / averagePitchHz) ** 0.1, 0.93, 1.07),
        colour: this.colourDb().map((db, band) => clamp(db - embeddedColour[band]!, -10, 10))
      }
    }
  }

  /** Long-term spectrum of the voiced frames per band of `colourBandsHz`, mean 0. */
  colourDb(): ReadonlyArray<number> {
    const perBin = listeningRate / spectrumSize
    const bands = colourBandsHz.map((centre, band) => {
      const low = Math.sqrt(centre * (colourBandsHz[band - 1] ?? centre / 1.6))
      const high = Math.sqrt(centre * (colourBandsHz[band + 1] ?? centre * 1.25))
      const from = Math.max(1, Math.round(low / perBin))
      const bins = this.#power.subarray(from, Math.max(from + 1, Math.min(spectrumSize / 2, Math.round(high / perBin))))
      return 10 * Math.log10(mean([...bins]) + 1e-9)
    })
    const middle = mean(bands)
    return bands.map((db) => db - middle)
  }

  #frame(samples: Int16Array): void {
    let sum = 0
    for (let i = 0; i < samples.length; i++) sum += samples[i]! ** 2
    const level = Math.sqrt(sum / samples.length) / 32768
    this.#levels.push(level)
    if (level < quietest) {
      this.#pitches.push(0)
      return
    }
    // Two samples averaged keep enough of what is above 4 kHz away: pitch lies far below.
    for (let i = 0; i < pitchWindow; i++) this.#halved[i] = (samples[2 * i]! + samples[2 * i + 1]!) / 2
    const pitch = pitchOf(this.#halved)
    const isVoice = pitch.clarity >= leastClarity
    this.#pitches.push(isVoice ? pitch.hz : 0)
    if (isVoice) this.#spectrum.addTo(this.#power, samples)
  }
}

/** Peaks of the smoothed envelope, at least 2 dB above the dips beside them, per second of sound above the gate. */
const syllablesPerSecond = (levels: ReadonlyArray<number>, gate: number): number => {
  const smooth = levels.map((_, i) => dbfs(mean(levels.slice(Math.max(0, i - 1), i + 2))))
  const gateDb = dbfs(gate)
  const speaking = smooth.filter((db) => db >= gateDb).length
  let peaks = 0
  let rising = true
  let turn = Number.NEGATIVE_INFINITY
  for (const db of smooth) {
    if (rising) {
      if (db > turn) turn = db
      else if (db < turn - dipDb) {
        if (turn > gateDb) peaks++
        rising = false
        turn = db
      }
    } else if (db < turn) turn = db
    else if (db > turn + dipDb) {
      rising = true
      turn = db
    }
  }
  return speaking === 0 ? 0 : (1000 * peaks) / (speaking * frameMs)
}

const mean = (values: ReadonlyArray<number>): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

const variance = (values: ReadonlyArray<number>): number => {
  const middle = mean(values)
  return mean(values.map((value) => (value - middle) ** 2))
}

const percentile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? 0

const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value))
