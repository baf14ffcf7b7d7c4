import { assert, describe, it } from "@effect/vitest"
import { Playout } from "../../src/playout/Playout.ts"

describe("the playout", () => {
  it("gives back every sample in frames, the last one padded", () => {
    const playout = new Playout(24_000, () => {})
    const samples = Int16Array.from({ length: 1_000 }, (_, i) => i + 1)
    playout.push(samples.subarray(0, 333), 24_000)
    playout.push(samples.subarray(333), 24_000)
    const frame = new Int16Array(480)
    const out: Array<number> = []
    while (playout.read(frame)) out.push(...frame)
    assert.strictEqual(out.length, 960)
    assert.isFalse(playout.drained)
    playout.complete = true
    assert.isTrue(playout.read(frame))
    out.push(...frame)
    assert.deepStrictEqual(out.slice(0, 1_000), [...samples])
    assert.isTrue(out.slice(1_000).every((sample) => sample === 0))
    assert.isTrue(playout.drained)
  })

  it("asks the producer to pause four seconds ahead and to go on at half", () => {
    let room = 0
    const playout = new Playout(24_000, () => room++)
    const second = new Int16Array(24_000)
    for (let i = 0; i < 3; i++) assert.isTrue(playout.push(second, 24_000))
    assert.isFalse(playout.push(second, 24_000))
    const frame = new Int16Array(480)
    for (let i = 0; i < 99; i++) playout.read(frame)
    assert.strictEqual(room, 0)
    for (let i = 0; i < 5; i++) playout.read(frame)
    assert.strictEqual(room, 1)
  })
})
