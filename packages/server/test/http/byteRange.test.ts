import { describe, expect, it } from "vitest"
import { byteRange } from "../../src/http/byteRange.ts"

const part = (offset: number, length: number) => ({ _tag: "Part", offset, length })

describe("byteRange", () => {
  it.each([
    [undefined, { _tag: "Whole" }],
    ["bytes=0-", part(0, 1000)],
    ["bytes=0-0", part(0, 1)],
    ["bytes=10-19", part(10, 10)],
    ["Bytes= 10-19 ", part(10, 10)],
    ["bytes=999-", part(999, 1)],
    ["bytes=990-5000", part(990, 10)],
    ["bytes=-1", part(999, 1)],
    ["bytes=-5000", part(0, 1000)],
    ["bytes=-0", { _tag: "Unsatisfiable" }],
    ["bytes=1000-", { _tag: "Unsatisfiable" }],
    ["bytes=1000-1001", { _tag: "Unsatisfiable" }],
    ["bytes=20-10", { _tag: "Whole" }],
    ["bytes=0-1,5-6", { _tag: "Whole" }],
    ["bytes=-", { _tag: "Whole" }],
    ["bytes=a-b", { _tag: "Whole" }],
    ["seconds=1-2", { _tag: "Whole" }],
    ["bytes=1-99999999999999999999999", { _tag: "Whole" }],
    ["", { _tag: "Whole" }]
  ])("%s", (header, range) => expect(byteRange(header, 1000)).toEqual(range))

  it("has nothing to give of an empty file", () => {
    expect(byteRange("bytes=0-", 0)).toEqual({ _tag: "Unsatisfiable" })
    expect(byteRange("bytes=-5", 0)).toEqual({ _tag: "Unsatisfiable" })
  })
})
