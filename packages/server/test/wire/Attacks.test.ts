// Hostile traffic on the running service, in short form; the long one is `npm run attack`.
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { attacks } from "../../src/testing/attacks/attacks.ts"
import { openTarget, type Target } from "../../src/testing/attacks/Target.ts"

describe("an attack", { timeout: 60_000 }, () => {
  let target: Target
  beforeAll(async () => {
    target = await openTarget()
  })
  afterAll(() => target.service.stop())

  it.each(attacks.map((attack) => [attack.name, attack] as const))("by %s does no harm", async (_, { run }) => {
    const { faults } = await run(target, 1)
    expect(faults).toEqual([])
    expect(target.service.process.exitCode).toBe(null)
  })
})
