// To whom a fault belongs that a library throws from its own timer, socket or worker callback: what is created inside
// `ownedBy` carries its owner through every callback (AsyncLocalStorage), so that whoever handles the process's uncaught
// faults can end a call or a connection instead of the process.
import { AsyncLocalStorage } from "node:async_hooks"

/** What ends when a library fails on its behalf. */
export interface FaultOwner {
  readonly kind: "call" | "dialog" | "connection"
  /** Ends it. Must not throw; may be called again after the end. */
  readonly fail: () => void
}

const owners = new AsyncLocalStorage<FaultOwner>()

/** Runs the body; sockets, timers and promises made in it belong to the owner from now on. */
export const ownedBy = <A>(owner: FaultOwner, body: () => A): A => owners.run(owner, body)

/** The owner of the code that runs now, also inside a handler of `uncaughtException`. */
export const faultOwner = (): FaultOwner | undefined => owners.getStore()
