// The breath between two chunks. Engines end a phrase as they like, some with a pause and some with none: what is
// missing of a natural one is put in front of the next chunk.

const afterSentenceMs = 260
const afterClauseMs = 120
/** Quieter than this is silence (-48 dBFS). */
const audible = 128

/** What went out last, and the silence at its end. */
export class Pauses {
  #content = ""
  #quietMs = Number.POSITIVE_INFINITY

  /** A piece of the sound of `content` went out. */
  follow(content: string, samples: Int16Array, sampleRate: number): void {
    const last = samples.findLastIndex((sample) => sample > audible || sample < -audible)
    const quietMs = ((samples.length - 1 - last) * 1000) / sampleRate
    this.#quietMs = last === -1 && content === this.#content ? this.#quietMs + quietMs : quietMs
    this.#content = content
  }

  /** Silence to add before other words follow. */
  missingMs(): number {
    const end = this.#content.trimEnd().replace(/["'”’»)\]]+$/u, "")
    const wantedMs = /[.!?…。！？]$/.test(end) || /\n\s*$/.test(this.#content) ? afterSentenceMs : pauseWithin(end)
    return Math.max(0, wantedMs - this.#quietMs)
  }

  /** What follows stands alone. */
  forget(): void {
    this.#quietMs = Number.POSITIVE_INFINITY
  }
}

const pauseWithin = (end: string): number => (/[,;:–—，；：、]$/.test(end) ? afterClauseMs : 0)
