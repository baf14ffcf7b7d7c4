import { assert, describe, it } from "@effect/vitest"
import { decimalOf, nanoOf } from "../../src/billing/Money.ts"

describe("Money", () => {
  it.each([
    ["0", 0n],
    ["5", 5_000_000_000n],
    ["0.000000001", 1n],
    ["-2.5", -2_500_000_000n],
    ["999999999.999999999", 999_999_999_999_999_999n]
  ])("reads and writes %s exactly", (decimal, nano) => {
    assert.strictEqual(nanoOf(decimal), nano)
    assert.strictEqual(decimalOf(nano), decimal)
  })

  it.each(["", "-", "1.", ".5", "1e3", "1,5", "0.0000000001", "1234567890", "0x1", " 1", "1\n"])("refuses %j", (text) =>
    assert.isUndefined(nanoOf(text))
  )
})
