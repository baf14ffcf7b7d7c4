// Places for live calls, counted over all doors: telephone calls take theirs here, the media door counts its own.
export class Seats {
  readonly #capacity: number
  readonly #taken = new Set<string>()
  #beside = (): number => 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get count(): number {
    return this.#taken.size
  }

  /** False when every place is taken. */
  take(id: string): boolean {
    if (this.#taken.size + this.#beside() >= this.#capacity) return false
    this.#taken.add(id)
    return true
  }

  leave(id: string): void {
    this.#taken.delete(id)
  }

  /** Places another door has taken. */
  countBeside(count: () => number): void {
    this.#beside = count
  }
}
