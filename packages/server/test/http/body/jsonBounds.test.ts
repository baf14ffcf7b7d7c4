import { assert, describe, it } from "@effect/vitest"
import { jsonExcess } from "../../../src/http/body/jsonBounds.ts"

const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

/** Numbers in 0 to 1, the same for the same seed. */
const random = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

const texts = ["", "a", '"', "\\", '\\"[', "]}", "[{"]

const anyValue = (next: () => number, deepest: number): unknown => {
  const kind = Math.floor(next() * (deepest === 0 ? 2 : 4))
  if (kind === 0) return next()
  if (kind === 1) return texts[Math.floor(next() * texts.length)]
  const items = Array.from({ length: Math.floor(next() * 4) }, () => anyValue(next, deepest - 1))
  return kind === 2 ? items : Object.fromEntries(items.map((item, i) => [`${texts[i]}${i}`, item]))
}

const nestsDeeper = (text: string, levels: number) => jsonExcess(text, { levels, values: 1_000_000 }) !== undefined

const values = (count: number) => JSON.stringify(Array.from({ length: count }, () => ","))

describe("jsonExcess", () => {
  it("knows the depth of every JSON text", () => {
    const next = random(7)
    for (let i = 0; i < 2_000; i++) {
      const value = anyValue(next, 6)
      const depth = depthOf(value)
      const text = JSON.stringify(value)
      assert.isFalse(nestsDeeper(text, depth), text)
      assert.strictEqual(nestsDeeper(text, depth - 1), depth > 0, text)
    }
  })

  it("does not count what stands in strings", () => {
    assert.isFalse(nestsDeeper('["[[[[", "\\"[[[[", "\\\\", "{"]', 1))
    assert.isTrue(nestsDeeper('["\\\\", [[]]]', 2))
  })

  it("counts values, not what stands in strings", () => {
    assert.isUndefined(jsonExcess(values(50_000)))
    assert.match(jsonExcess(values(50_001)) ?? "", /more than 50000 values/)
    assert.match(jsonExcess(`{${'"a":1,'.repeat(60_000)}"b":2}`) ?? "", /more than 50000 values/)
  })

  it("takes any text", () => {
    const next = random(8)
    const signs = [...'[]{}"\\:,a']
    for (let i = 0; i < 2_000; i++) {
      nestsDeeper(Array.from({ length: 40 }, () => signs[Math.floor(next() * signs.length)]).join(""), 3)
    }
    assert.isFalse(nestsDeeper('"never closed [[[[', 1))
    assert.isTrue(nestsDeeper("[".repeat(1_000_000), 64))
  })
})
