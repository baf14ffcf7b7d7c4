// Who calls, as the trunk says it; and which addresses a list lets in.
import { describe, expect, it } from "vitest"
import { narrowest } from "../../src/sip/addressBlocks.ts"
import { callerOf } from "../../src/sip/caller.ts"

describe("the caller", () => {
  it.each([
    [["From: <sip:+15550199@x>;tag=1"], "+15550199"],
    [["f: sip:100@x;tag=1"], "100"],
    [["From: <sip:a@x>", "P-Asserted-Identity: <tel:+1555>"], "+1555"],
    [["From: <sip:a@x>", 'Remote-Party-ID: "B" <sip:+1556@y>;party=calling'], "+1556"],
    [["From: <sip:a@x>", "Privacy: none"], "a"],
    [["From: <sip:a@x>", "Privacy: header;id"], ""],
    [['From: "Anonymous" <sip:anonymous@anonymous.invalid>;tag=1'], ""],
    [["From: <sip:Restricted@x>"], ""],
    [[`From: <sip:${"9".repeat(100)}@x>`], "9".repeat(64)],
    [[], ""]
  ])("of %j is %j", (lines, expected) => {
    expect(callerOf(["INVITE sip:a@b SIP/2.0", ...lines, ""].join("\r\n"))).toBe(expected)
  })
})

describe("an address", () => {
  it.each([
    ["192.0.2.7", ["192.0.2.0/24"], true],
    ["::ffff:192.0.2.7", ["192.0.2.7"], true],
    ["192.0.3.7", ["192.0.2.0/24", "198.51.100.1"], false],
    ["2001:db8::7", ["2001:db8::/32"], true],
    ["2001:db9::7", ["2001:db8::/32"], false],
    ["192.0.2.7", ["not an address", "192.0.2.0/99"], false],
    ["192.0.2.7", [], false]
  ])("%s among %j: %s", (address, blocks, expected) => {
    expect(narrowest(blocks, address) !== undefined).toBe(expected)
  })
})
