// Where sip.js ends and the service begins. What it throws while it is called goes to the caller; what it throws later,
// out of a timer it set meanwhile, would end the process: it takes the timers of the global scope and guards none of
// them. While the core of a call is at work, and only then, `setTimeout` and `setInterval` are guarded ones that bring
// such an exception to the call they belong to.

type Run = (...given: ReadonlyArray<unknown>) => unknown
type Start = (run: Run, ...given: ReadonlyArray<unknown>) => unknown
type Name = "setTimeout" | "setInterval"

/** The edge of one call's core. */
export class CoreBoundary {
  readonly #onBroken: (error: unknown) => void
  #inside = false

  /** @param onBroken Told what a timer of the core threw; the timer and whatever it would have done is over. */
  constructor(onBroken: (error: unknown) => void) {
    this.#onBroken = onBroken
  }

  /** Runs what calls into the core, synchronously. Throws what that throws. */
  enter<A>(act: () => A): A {
    if (this.#inside) return act()
    const { setInterval, setTimeout } = globalThis
    this.#inside = true
    this.#replace("setTimeout", setTimeout as unknown as Start)
    this.#replace("setInterval", setInterval as unknown as Start)
    try {
      return act()
    } finally {
      globalThis.setTimeout = setTimeout
      globalThis.setInterval = setInterval
      this.#inside = false
    }
  }

  #replace(name: Name, start: Start): void {
    const guarded: Start = (run, ...given) =>
      start((...passed: ReadonlyArray<unknown>) => this.#fire(run, passed), ...given)
    // `util.promisify` and others look at what hangs on the function.
    Reflect.set(globalThis, name, Object.assign(guarded, start))
  }

  /** A timer is the core at work again: what it sets in turn is guarded as well. */
  #fire(run: Run, passed: ReadonlyArray<unknown>): void {
    try {
      this.enter(() => run(...passed))
    } catch (error) {
      this.#onBroken(error)
    }
  }
}
