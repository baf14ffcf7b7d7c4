import { assert, describe, it } from "@effect/vitest"
import type { Call } from "../../src/calls/Call.ts"
import { type CallLimits, limitsOf } from "../../src/calls/callLimits.ts"
import { type Newcomer, Places } from "../../src/calls/Places.ts"

const unset = { workspace: undefined, publicAgent: undefined, address: undefined }
const of = (workspaceId: string, agentId = "agent") => ({ workspaceId, agentId })

const opened = (limits: CallLimits) => {
  let nowMs = 0
  const places = new Places(limits, () => nowMs)
  return {
    places,
    later: (ms: number) => (nowMs += ms),
    take: (who: Newcomer = {}): Call => {
      const call = places.take(who)
      if (call._tag === "NoPlace") throw new Error(call.reason)
      return call
    },
    isFull: (who: Newcomer = {}) => places.refusal(who)?.reason === "full" && places.take(who)._tag === "NoPlace",
    fill: (count: number, who: Newcomer) => Array.from({ length: count }, () => places.take(who)._tag)
  }
}

describe("Places", () => {
  it("are lost by those whose socket was cut before media flowed", () => {
    const { isFull, places, take } = opened({ service: 2 })
    const cut = take({ sessionId: "cut", awaitsMedia: true })
    const up = take({ sessionId: "up", awaitsMedia: true })
    assert.isTrue(isFull())
    cut.isAway = true
    up.isAway = true
    up.awaitsMedia = false
    take()
    assert.strictEqual(cut.endedBy, "displaced")
    assert.strictEqual(places.find("cut"), cut, "known until its record is settled")
    assert.isTrue(isFull())
    assert.isUndefined(up.endedBy)
  })

  it("are lost by the one that waits longest, after 2 s, and only when there is no other", () => {
    const { isFull, later, take } = opened({ service: 2 })
    const first = take({ awaitsMedia: true })
    later(500)
    const second = take({ awaitsMedia: true })
    later(1_499)
    assert.isTrue(isFull())
    later(1)
    take()
    assert.deepStrictEqual([first.endedBy, second.endedBy], ["displaced", undefined])
    assert.isTrue(isFull())
  })

  it("are never lost by calls that ring or are talked in", () => {
    const { isFull, later, take } = opened({ service: 1 })
    take({ stranger: {} })
    later(3_600_000)
    assert.isTrue(isFull())
  })

  it("keep a tenth from the only one who takes them all, where there are others", () => {
    let workspaces = 1
    const { fill, isFull, take } = opened(limitsOf({ ...unset, service: 100 }, () => workspaces))
    fill(90, { tenant: of("greedy") })
    assert.isFalse(isFull({ tenant: of("greedy") }))
    workspaces = 2
    assert.isTrue(isFull({ tenant: of("greedy") }))
    fill(9, { tenant: of("other") })
    take({ tenant: of("other") })
    assert.isTrue(isFull({ tenant: of("other") }))
  })

  it("keep a tenth from strangers at one agent, on the web and by telephone", () => {
    const { fill, isFull, places, take } = opened(limitsOf({ ...unset, service: 20, address: 20 }, () => 1))
    fill(10, { tenant: of("w"), stranger: { address: "203.0.113.1" } })
    fill(8, { tenant: of("w"), stranger: {} })
    assert.isTrue(isFull({ tenant: of("w"), stranger: { address: "203.0.113.2" } }))
    const rings = take({ stranger: {} })
    assert.isFalse(places.assign(rings, of("w")))
    assert.isTrue(places.assign(rings, of("w", "another agent")))
    take({ tenant: of("w") })
    assert.isTrue(isFull({ tenant: of("w") }))
  })

  it("are few for strangers from one address", () => {
    const { fill, isFull } = opened(limitsOf({ ...unset, service: 4 }, () => 1))
    fill(2, { tenant: of("w"), stranger: { address: "203.0.113.1" } })
    assert.isTrue(isFull({ tenant: of("w"), stranger: { address: "203.0.113.1" } }))
    assert.isFalse(isFull({ tenant: of("w"), stranger: { address: "203.0.113.2" } }))
    assert.isFalse(isFull({ tenant: of("w") }))
  })

  it("go by the settings where there are any", () => {
    const limits = limitsOf({ service: 10, workspace: 3, publicAgent: 1, address: 5 }, () => 1)
    const { isFull, take } = opened(limits)
    take({ tenant: of("w"), stranger: { address: "a" } })
    assert.isTrue(isFull({ tenant: of("w"), stranger: { address: "b" } }))
    take({ tenant: of("w") })
    take({ tenant: of("w") })
    assert.isTrue(isFull({ tenant: of("w") }))
    assert.isFalse(isFull({ tenant: of("x") }))
  })

  it("have no reserve where they are few", () => {
    const { take } = opened(limitsOf({ ...unset, service: 1 }, () => 5))
    take({ tenant: of("w"), stranger: { address: "a" } })
  })
})
