// All attacks, from outside, on one running service: `npm run attack`, and in short form among the tests.
import { bodyAttacks } from "./bodies.ts"
import { socketAttacks } from "./sockets.ts"
import type { Attack } from "./Target.ts"
import { telephoneAttacks } from "./telephone.ts"

export const attacks: ReadonlyArray<Attack> = [...telephoneAttacks, ...socketAttacks, ...bodyAttacks]
