// How many of something each address holds: a bound, and no trace of addresses that hold none.

/** Places of addresses, each with the same bound. */
export class AddressPlaces {
  readonly #most: number
  readonly #taken = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /** False when the address has all of its places. */
  take(address: string): boolean {
    const taken = this.#taken.get(address) ?? 0
    if (taken >= this.#most) return false
    this.#taken.set(address, taken + 1)
    return true
  }

  /** Gives back one that was taken. */
  free(address: string): void {
    const left = (this.#taken.get(address) ?? 0) - 1
    if (left > 0) this.#taken.set(address, left)
    else this.#taken.delete(address)
  }
}
