// The short form of `npm run kill`: a busy service is killed four times by kill -9, and nothing acknowledged is lost, left
// undelivered or delivered in the wrong order. A failure names its seed; `npm run kill -- --seed N` has the long form of it.
import { afterAll, describe, expect, it } from "vitest"
import { runCrashScenario } from "../../../src/testing/crash/CrashScenario.ts"
import { closeRtc } from "../../../src/testing/RtcCaller.ts"

afterAll(closeRtc)

describe("a service that is killed by kill -9", { timeout: 240_000 }, () => {
  it("loses nothing", async () => {
    const seed = 20_261
    const report = await runCrashScenario({ points: 4, seed, longestMs: 2500 }).catch((error: unknown) => {
      throw new Error(`seed ${seed}: ${String(error)}`)
    })
    // There was work to lose.
    expect(report.sessions).toBeGreaterThan(4)
    expect(report.answered).toBeGreaterThan(0)
    expect(report.toolWrites).toBeGreaterThan(0)
    expect(report.deliveries).toBeGreaterThanOrEqual(report.answered * 4)
  })
})
