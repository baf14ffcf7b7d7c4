import { describe, expect, it } from "vitest"
import * as SignOfLife from "../../src/webrtc/SignOfLife.ts"

const patience = { silenceMs: 20_000, graceMs: 15_000 }
const isLost = (life: SignOfLife.SignOfLife, nowMs: number): boolean => SignOfLife.isLost(life, patience, nowMs)

describe("SignOfLife", () => {
  it("loses a leg that shows none for the whole time, whatever any state says", () => {
    const life = SignOfLife.begin(0)
    expect(isLost(life, 19_999)).toBe(false)
    expect(isLost(life, 20_000)).toBe(true)
  })

  it("keeps a silent client alive by its pings", () => {
    let life = SignOfLife.begin(0)
    for (let now = 5000; now <= 600_000; now += 5000) {
      life = SignOfLife.sign(life, now)
      expect(isLost(life, now + 4999)).toBe(false)
    }
  })

  it("holds a client that lost its signalling for the grace, even while its media flows", () => {
    let life = SignOfLife.away(SignOfLife.begin(0), 1000)
    life = SignOfLife.away(SignOfLife.sign(life, 15_900), 15_900)
    expect(isLost(life, 15_999)).toBe(false)
    expect(isLost(life, 16_000)).toBe(true)
    expect(isLost(SignOfLife.back(life, 15_999), 30_000)).toBe(false)
  })
})
