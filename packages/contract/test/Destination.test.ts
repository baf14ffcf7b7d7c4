import { assert, describe, it } from "@effect/vitest"
import { countryOf, isPremium } from "../src/Destination.ts"

describe("countryOf", () => {
  it.each([
    ["+14155550123", "US"],
    ["+14165550123", "CA"],
    ["+18765550123", "JM"],
    ["+17875550123", "PR"],
    ["+442079460123", "GB"],
    ["+4930123456", "DE"],
    ["+35312345678", "IE"],
    ["+77012345678", "KZ"],
    ["+74951234567", "RU"],
    ["+390612345678", "IT"],
    ["+88212345678", undefined],
    ["+9991234567", undefined],
    ["14155550123", undefined],
    ["+1415", undefined]
  ])("%s is in %s", (number, country) => assert.strictEqual(countryOf(number), country))
})

describe("isPremium", () => {
  it.each([
    "+19005550123",
    "+14159765555",
    "+14159115555",
    "+447012345678",
    "+4490012345",
    "+49900123456",
    "+33899123456"
  ])("%s costs extra or is no telephone", (number) => assert.isTrue(isPremium(number)))
  it.each(["+14155550123", "+18005550123", "+442079460123", "+4930123456", "+33123456789", "+447911123456"])(
    "%s is a telephone like any other",
    (number) => assert.isFalse(isPremium(number))
  )
})
