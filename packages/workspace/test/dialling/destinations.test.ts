import { assert, describe, it } from "@effect/vitest"
import { countryOf, isPremium } from "../../src/dialling/destinations.ts"

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
    ["+881612345678", undefined],
    ["+870773123456", undefined],
    ["+80012345678", undefined],
    // A network of two countries, and ranges nobody has: the largest of the code.
    ["+447797712345", "JE"],
    ["+15555555555", "US"],
    ["+447700900123", "GB"],
    ["+61190012345", "AU"],
    ["+38344123456", "XK"],
    ["+262639012345", "YT"],
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
    "+33899123456",
    "+17005550123",
    "+17105550123",
    "+15225550123",
    "+448701234567",
    "+491801234567",
    "+4911833",
    "+34901123456",
    "+39178123456",
    "+351707123456",
    "+881612345678",
    "+870773123456",
    "+88213123456",
    "+88312345678",
    "+8881234567890",
    "+80012345678",
    "+979123456789",
    // Of no whole form: a carrier routes by the first digits.
    "+449001234",
    "+4990012"
  ])("%s costs extra or is no telephone", (number) => assert.isTrue(isPremium(number)))
  it.each([
    "+14155550123",
    "+18005550123",
    "+442079460123",
    "+4930123456",
    "+33123456789",
    "+447911123456",
    "+4915112345678",
    "+8613812345678"
  ])("%s is a telephone like any other", (number) => assert.isFalse(isPremium(number)))
})
