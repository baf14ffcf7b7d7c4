// How many requests at the same time an account is worth.
import { type Nano, unit } from "./Money.ts"

/** Of an account that nothing is refused. */
export const highestTier = 50

/** Requests at the same time by what was topped up so far. */
export const tierOf = (toppedUp: Nano): number =>
  toppedUp >= 1000n * unit ? highestTier : toppedUp >= 100n * unit ? 15 : 5
