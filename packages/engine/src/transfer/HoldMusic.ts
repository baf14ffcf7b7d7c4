// What a caller on hold hears: a slow figure of plucked tones, eight seconds long, made by this program and so free to
// play. Quiet, and with gaps, so that a recogniser on the other side does not take it for speech.

const seconds = 8
/** Hz, one each second: two chords, broken. */
const notes = [261.63, 329.63, 392, 523.25, 220, 277.18, 329.63, 440] as const
const volume = 2_200

const loops = new Map<number, Int16Array>()

/** A source that never ends; each listener begins at its start. `rate` in samples per second. */
export class HoldMusic {
  readonly #loop: Int16Array
  #at = 0

  constructor(rate: number) {
    this.#loop = loopAt(rate)
  }

  read(frame: Int16Array): boolean {
    for (let i = 0; i < frame.length; i++) {
      frame[i] = this.#loop[this.#at] ?? 0
      this.#at = (this.#at + 1) % this.#loop.length
    }
    return true
  }
}

const loopAt = (rate: number): Int16Array => {
  const known = loops.get(rate)
  if (known !== undefined) return known
  const loop = new Int16Array(seconds * rate)
  for (const [second, hertz] of notes.entries()) {
    for (let i = 0; i < rate; i++) {
      const t = i / rate
      const fade = Math.exp(-4 * t) * Math.min(1, t * 200)
      loop[second * rate + i] =
        volume * fade * (Math.sin(2 * Math.PI * hertz * t) + 0.3 * Math.sin(4 * Math.PI * hertz * t))
    }
  }
  loops.set(rate, loop)
  return loop
}
