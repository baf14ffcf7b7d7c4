// Who refreshes a session, and when.
import { describe, expect, it } from "vitest"
import { answeredOf, askedOf, dueSeconds } from "../../src/sip/sessionTimer.ts"

describe("what they ask for", () => {
  it.each<[string | undefined, string, ReturnType<typeof askedOf>]>([
    [undefined, "timer", undefined],
    ["rubbish", "timer", undefined],
    ["89", "timer", "tooSmall"],
    ["90", "timer", { timer: { seconds: 90, ours: false }, header: "Session-Expires: 90;refresher=uac" }],
    ["1800", "", { timer: { seconds: 1800, ours: true }, header: "Session-Expires: 1800;refresher=uas" }],
    [
      "1800;refresher=uas",
      "100rel, timer",
      { timer: { seconds: 1800, ours: true }, header: "Session-Expires: 1800;refresher=uas" }
    ],
    [
      "1800 ; refresher = UAC",
      "timer",
      { timer: { seconds: 1800, ours: false }, header: "Session-Expires: 1800;refresher=uac" }
    ],
    ["999999", "timer", { timer: { seconds: 7200, ours: false }, header: "Session-Expires: 7200;refresher=uac" }]
  ])("%s with %j", (expires, supported, expected) => {
    expect(askedOf(expires, supported)).toEqual(expected)
  })
})

describe("what they answer", () => {
  it.each([
    [undefined, undefined],
    ["10;refresher=uac", undefined],
    ["1800;refresher=uac", { seconds: 1800, ours: true }],
    ["1800;refresher=uas", { seconds: 1800, ours: false }],
    ["1800", { seconds: 1800, ours: true }]
  ])("%s", (expires, expected) => {
    expect(answeredOf(expires)).toEqual(expected)
  })
})

describe("when it is due", () => {
  it.each([
    [{ seconds: 1800, ours: true }, 900],
    [{ seconds: 1800, ours: false }, 1768],
    [{ seconds: 90, ours: false }, 60]
  ])("%j: %i s", (timer, seconds) => {
    expect(dueSeconds(timer)).toBe(seconds)
  })
})
