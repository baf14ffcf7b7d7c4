import { assert, describe, it } from "@effect/vitest"
import { fused } from "../../src/knowledge/fusion.ts"
import { nearest, packed } from "../../src/knowledge/vectors.ts"

const random = (seed: number) => () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648 - 0.5

const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, number, i) => sum + number * (y[i] ?? 0), 0)
const names = (rankings: ReadonlyArray<ReadonlyArray<string>>) => fused(rankings, (name) => name)

describe("vectors", () => {
  it("keep the cosine of two vectors to about a percent, whatever their lengths", () => {
    const next = random(7)
    for (let round = 0; round < 50; round++) {
      const a = Float32Array.from({ length: 384 }, () => next() * 9)
      const b = a.map((number) => number + next() * round)
      const cosine = dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
      const [found] = nearest(packed([b]), packed([a]), 1)
      assert.approximately(found?.likeness ?? 9, cosine, 0.02)
    }
  })

  it("finds what a full sort finds", () => {
    const next = random(3)
    const vectors = Array.from({ length: 200 }, () => Float32Array.from({ length: 32 }, next))
    const question = packed([Float32Array.from({ length: 32 }, next)])
    const rows = packed(vectors)
    const all = nearest(rows, question, 200)
    const sorted = all.map(({ likeness }) => likeness)
    assert.deepStrictEqual(
      sorted,
      sorted.toSorted((a, b) => b - a)
    )
    assert.deepStrictEqual(nearest(rows, question, 5), all.slice(0, 5))
  })

  it("finds nothing for vectors of another length, and takes a vector of zeros", () => {
    assert.deepStrictEqual(nearest(packed([new Float32Array(3)]), packed([new Float32Array(2).fill(1)]), 5), [])
    assert.deepStrictEqual(nearest(packed([new Float32Array(2)]), packed([new Float32Array(2).fill(1)]), 5), [
      { position: 0, likeness: 0 }
    ])
    assert.deepStrictEqual(nearest(packed([]), packed([]), 5), [])
  })
})

describe("fusion", () => {
  it("puts what both know before what one knows, and keeps each order otherwise", () => {
    assert.deepStrictEqual(
      names([
        ["a", "b", "c"],
        ["d", "c"]
      ]),
      ["c", "a", "d", "b"]
    )
    assert.deepStrictEqual(names([["a", "b"], []]), ["a", "b"])
    assert.deepStrictEqual(names([[], []]), [])
  })
})
