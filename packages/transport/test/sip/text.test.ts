// What is read of a message before any parser, and normalise for it.
import { describe, expect, it } from "vitest"
import {
  addBranch,
  peekHeaders,
  headerIn,
  headersIn,
  headOf,
  normalise,
  nextHop,
  addReceived,
  unfolded,
  userOf
} from "../../src/sip/text.ts"

const lines = (...all: ReadonlyArray<string>): string => `${all.join("\r\n")}\r\n`
const invite = lines(
  "INVITE sip:bob@example.com SIP/2.0",
  "v: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1;rport, SIP/2.0/TCP 192.0.2.2;branch=z9hG4bK2",
  "i: abc@x",
  "CSeq:  7 INVITE",
  "l: 3",
  "",
  "abcdef"
)

describe("a peekHeaders", () => {
  it("finds what a message is known by, in short forms too", () => {
    expect(peekHeaders(invite)).toEqual({
      method: "INVITE",
      status: undefined,
      callId: "abc@x",
      branch: "z9hG4bK1",
      cseq: 7,
      cseqMethod: "INVITE"
    })
  })

  it.each([
    ["SIP/2.0 180 Ringing", 180],
    ["SIP/2.0 200 ", 200],
    ["SIP/2.0 200", 200],
    ["sip/2.0 486 Busy", 486]
  ])("takes %j", (start, status) => {
    expect(peekHeaders(lines(start, ""))).toMatchObject({ status, method: undefined })
  })

  it.each([
    "",
    "hello",
    "INVITE sip:a SIP/2.0",
    "INVITE  sip:a SIP/2.0\r\n",
    "SIP/2.0 20 OK\r\n",
    "INVITE sip:a SIP/3.0\r\n"
  ])("takes no %j", (text) => {
    expect(peekHeaders(text)).toBeUndefined()
  })
})

describe("headers", () => {
  const head = headOf(
    lines("X sip:a SIP/2.0", "To : \t<sip:a@b>  ", "Route: <sip:1>", "route:<sip:2>", "m: x", "", "Route: body")
  )
  it("are found by either name, without what surrounds them", () => {
    expect(headerIn(head, "to", "t")).toBe("<sip:a@b>")
    expect(headerIn(head, "contact", "m")).toBe("x")
    expect(headerIn(head, "from", "f")).toBeUndefined()
    expect(headersIn(head, "route")).toEqual(["<sip:1>", "<sip:2>"])
  })

  it("are unfolded, and the body is not", () => {
    const folded = lines("X sip:a SIP/2.0", "Via: SIP/2.0", " /UDP", "\t a ;branch=1", "", " a", "  b")
    expect(unfolded(folded)).toBe(lines("X sip:a SIP/2.0", "Via: SIP/2.0 /UDP a ;branch=1", "", " a", "  b"))
  })
})

describe("a normalise message", () => {
  it("is cut to its length, in bytes", () => {
    expect(normalise(invite)?.endsWith("\r\n\r\nabc")).toBe(true)
    expect(normalise(lines("X sip:a SIP/2.0", "Content-Length: 4", "", "ääx"))?.endsWith("ää")).toBe(true)
    expect(normalise(lines("X sip:a SIP/2.0", "Content-Length: 99", "", "short"))).toBeUndefined()
    for (const end of ["\r", "\n", "\n\r", "\r\r", "\u2028", "\u2029"]) {
      expect(normalise(lines("X sip:a SIP/2.0", `X: a${end}Content-Type: b/c`, "", "x"))).toBeUndefined()
    }
    expect(normalise("X sip:a SIP/2.0\r\nno end")).toBeUndefined()
  })

  it.each([
    ["INVITE sips:a@b SIP/2.0", "INVITE sip:a@b SIP/2.0"],
    ["INVITE SIPS:a@b SIP/2.0", "INVITE sip:a@b SIP/2.0"],
    ["INVITE tel:+1-555-0100 SIP/2.0", "INVITE sip:+15550100@invalid SIP/2.0"],
    ["INVITE tel:+1(555)0100;phone-context=x SIP/2.0", "INVITE sip:+15550100@invalid SIP/2.0"],
    ["INVITE sip:a@b SIP/2.0", "INVITE sip:a@b SIP/2.0"]
  ])("asks for %j as %j", (start, expected) => {
    expect(normalise(lines(start, "", ""))?.split("\r\n")[0]).toBe(expected)
  })
})

describe("a stamp", () => {
  const from = { address: "198.51.100.9", port: 4000 }
  it.each([
    ["Via: SIP/2.0/UDP a;rport;branch=1", "Via: SIP/2.0/UDP a;rport=4000;branch=1;received=198.51.100.9"],
    ["v: SIP/2.0/UDP a;branch=1;rport", "v: SIP/2.0/UDP a;branch=1;rport=4000;received=198.51.100.9"],
    ["Via: SIP/2.0/UDP a;branch=1", "Via: SIP/2.0/UDP a;branch=1;received=198.51.100.9"],
    ["Via: SIP/2.0/UDP a;received=1.1.1.1;branch=1", "Via: SIP/2.0/UDP a;branch=1;received=198.51.100.9"],
    [
      "Via: SIP/2.0/UDP a;rport;branch=1, SIP/2.0/UDP b;rport",
      "Via: SIP/2.0/UDP a;rport=4000;branch=1;received=198.51.100.9, SIP/2.0/UDP b;rport"
    ]
  ])("makes %j %j", (via, expected) => {
    expect(addReceived(lines("X sip:a SIP/2.0", via, "Via: SIP/2.0/UDP c"), from)).toBe(
      lines("X sip:a SIP/2.0", expected, "Via: SIP/2.0/UDP c")
    )
  })

  it("writes IPv6 in brackets", () => {
    expect(addReceived("Via: SIP/2.0/UDP a;branch=1\r\n", { address: "2001:db8::1", port: 1 })).toContain(
      ";received=[2001:db8::1]"
    )
  })
})

describe("the next hop", () => {
  it.each([
    ["BYE sip:a@192.0.2.1:5070 SIP/2.0", "", { host: "192.0.2.1", port: 5070 }],
    ["BYE sip:192.0.2.1 SIP/2.0", "", { host: "192.0.2.1", port: 5060 }],
    ["BYE sip:a@[2001:db8::1]:5071;transport=udp SIP/2.0", "", { host: "2001:db8::1", port: 5071 }],
    ["BYE sip:a@b SIP/2.0", "Route: <sip:192.0.2.9:5080;lr>, <sip:192.0.2.8;lr>", { host: "192.0.2.9", port: 5080 }],
    ["BYE sip:a@b SIP/2.0", 'Route: "p" <sip:x@192.0.2.9;lr>', { host: "192.0.2.9", port: 5060 }],
    ["BYE tel:123 SIP/2.0", "", undefined]
  ])("of %j with %j is %j", (start, route, expected) => {
    expect(nextHop(lines(start, ...(route === "" ? [] : [route]), "", ""))).toEqual(expected)
  })
})

describe("a user", () => {
  it.each([
    ["<sip:+15550100@x>", "+15550100"],
    ["INVITE sip:%2B1555@x SIP/2.0", "+1555"],
    ["tel:+1555;phone-context=a", "+1555"],
    ['"A <b>" <sips:al%zz@x>', "al%zz"],
    ["<sip:example.com>", ""],
    ["<sip:example.com:5060;lr>", ""],
    ["<sip:a:secret@example.com>", "a"],
    ["", ""]
  ])("of %j is %j", (header, user) => {
    expect(userOf(header)).toBe(user)
  })
})

describe("lines made to be slow", () => {
  const spaces = " ".repeat(60_000)
  it.each([
    ["spaces in a header", lines("INVITE sip:a SIP/2.0", `CSeq:${spaces}x${spaces}y`, `Via: a${spaces};${spaces}`, "")],
    ["spaces before a line's end", lines("INVITE sip:a SIP/2.0", `Via: a;rport${spaces}x`, `To:${spaces}`, "")],
    ["folds", lines("INVITE sip:a SIP/2.0", ...Array.from({ length: 15_000 }, () => " x"), "")],
    ["semicolons", lines("INVITE sip:a SIP/2.0", `Via: ${";".repeat(60_000)}`, `To: ${"; ".repeat(30_000)}`, "")],
    ["commas", lines("INVITE sip:a SIP/2.0", `Via: ${",".repeat(60_000)}`, "")],
    ["one word", lines(`INVITE sip:${"a?".repeat(30_000)} SIP/2.0`, `Via: ${"v".repeat(60_000)}`, "")]
  ])("are read in passing: %s", (_name, text) => {
    const beganMs = performance.now()
    const whole = unfolded(text)
    peekHeaders(whole)
    normalise(addReceived(addBranch(whole), { address: "127.0.0.1", port: 1 }))
    headersIn(headOf(whole), "to", "t")
    userOf(whole)
    nextHop(whole)
    // A quadratic match takes many seconds.
    expect(performance.now() - beganMs).toBeLessThan(1_500)
  })
})
