// `npm run kill [-- --points 50 --seed 1]`: a busy service is killed with kill -9 at random moments; fails when
// anything that was acknowledged is lost, left undelivered or delivered in the wrong order.
import { parseArgs } from "node:util"
import { closeRtc } from "../packages/server/src/testing/RtcCaller.ts"
import { runCrashScenario } from "../packages/server/src/testing/crash/CrashScenario.ts"

const { values } = parseArgs({
  options: { points: { type: "string", default: "50" }, seed: { type: "string" }, longest: { type: "string" } }
})
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9))
console.log(`seed ${seed}`)
try {
  const report = await runCrashScenario({
    points: Number(values.points),
    seed,
    longestMs: Number(values.longest ?? 5000),
    say: console.log
  })
  const { startsMs, ...figures } = report
  const sorted = startsMs.toSorted((a, b) => a - b)
  console.log({
    ...figures,
    drainMs: Math.round(figures.drainMs),
    startMs: { median: Math.round(sorted[sorted.length >> 1] ?? 0), longest: Math.round(sorted.at(-1) ?? 0) }
  })
} catch (error) {
  console.error(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
await closeRtc()
