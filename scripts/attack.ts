// `npm run attack -- --strength 10`: hostile traffic from outside on a service of its own on loopback, and what came of it.
// Fails when one of the attacks did harm.
import { parseArgs } from "node:util"
import { attacks } from "@parley/server/testing/attacks/attacks"
import { openTarget } from "@parley/server/testing/attacks/Target"

const { values } = parseArgs({ options: { strength: { type: "string" } } })
const strength = Number(values.strength ?? 10)
const target = await openTarget()
let harmed = 0
for (const { name, run } of attacks) {
  const { faults, figure } = await run(target, strength)
  console.log(`${faults.length === 0 ? "held" : "HARM"}  ${name}: ${figure}`)
  for (const fault of faults) console.log(`      ${fault}`)
  harmed += faults.length
}
await target.service.stop()
console.log(harmed === 0 ? "good" : "BAD")
process.exit(harmed === 0 ? 0 : 1)
