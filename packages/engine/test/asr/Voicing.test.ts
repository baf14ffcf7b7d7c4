import { assert, describe, it } from "@effect/vitest"
import { quiet, step, type VoicingChange } from "../../src/asr/Voicing.ts"

const changes = (
  probabilities: ReadonlyArray<number>,
  pauseWindows = 2
): ReadonlyArray<VoicingChange & { window: number }> => {
  let state = quiet
  return probabilities.flatMap((probability, window) => {
    const [next, change] = step(state, probability, (window + 1) * 512, pauseWindows)
    state = next
    return change === null ? [] : [{ ...change, window }]
  })
}

describe("voicing", () => {
  it("begins after two windows and knows the first", () => {
    assert.deepStrictEqual(changes([0, 0.9, 0.9, 0.9]), [{ _tag: "Began", since: 512, window: 2 }])
  })
  it("takes a click for nothing", () => {
    assert.deepStrictEqual(changes([0, 0.9, 0, 0.9, 0]), [])
  })
  it("pauses after the chosen windows and knows the last voiced sample", () => {
    const heard = changes([0.9, 0.9, 0.9, 0.4, 0.1, 0.1, 0.1], 3)
    assert.deepStrictEqual(heard[1], { _tag: "Paused", lastVoiced: 4 * 512, window: 6 })
  })
  it("hangs over a dip shorter than a pause", () => {
    assert.strictEqual(changes([0.9, 0.9, 0.1, 0.9, 0.9]).length, 1)
  })
})
