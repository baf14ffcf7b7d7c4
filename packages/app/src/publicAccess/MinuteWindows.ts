// Counts in fixed windows of a minute. What is older than its minute is forgotten. Our own, because the library's rate
// limiter keeps every key it ever saw in memory, and these keys come from untrusted clients.

const windowMs = 60_000

/** Counts by key in windows of 60 s that begin at full minutes. */
export class MinuteWindows {
  #minute = 0
  #counts = new Map<string, number>()

  /** Whether fewer than `most` were counted for the key in the minute of `nowMs`. */
  isFree(key: string, most: number, nowMs: number): boolean {
    return this.countOf(key, nowMs) < most
  }

  /** What was counted for the key in the minute of `nowMs`. */
  countOf(key: string, nowMs: number): number {
    return this.#now(nowMs).get(key) ?? 0
  }

  /** Counts one more for the key. */
  count(key: string, nowMs: number): void {
    const counts = this.#now(nowMs)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }

  #now(nowMs: number): Map<string, number> {
    const minute = Math.floor(nowMs / windowMs)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#counts = new Map()
    }
    return this.#counts
  }
}
