// What a request without a call deserves.
import { describe, expect, it } from "vitest"
import { validate } from "../../src/sip/validate.ts"
import { peekHeaders } from "../../src/sip/text.ts"

const request = (
  method: string,
  more: ReadonlyArray<string> = [],
  { cseq = "1", from = "<sip:c@d>", target = "sip:a@b", to = "<sip:a@b>", via = "SIP/2.0/UDP x" } = {}
) =>
  [
    `${method} ${target} SIP/2.0`,
    `Via: ${via};branch=z9hG4bK1`,
    `From: ${from};tag=1`,
    `To: ${to}`,
    "Call-ID: x",
    `CSeq: ${cseq} ${method}`,
    ...more,
    "",
    ""
  ].join("\r\n")

const judged = (text: string) => {
  const seen = peekHeaders(text)
  if (seen === undefined) throw new Error("no message")
  const judgement = validate(text, seen)
  return judgement.act === "reply" ? judgement.status : judgement.act
}

describe("a request without a call", () => {
  it.each<[string, string, number | string]>([
    ["INVITE", request("INVITE"), "invite"],
    ["INVITE for a telephone", request("INVITE", [], { target: "tel:+1" }), "invite"],
    ["ACK", request("ACK"), "drop"],
    ["ACK that requires what we lack", request("ACK", ["Require: x"]), "drop"],
    ["OPTIONS", request("OPTIONS"), 200],
    ["OPTIONS for the next hop", request("OPTIONS", ["Max-Forwards: 0"]), 200],
    ["REGISTER", request("REGISTER"), 403],
    ["REFER", request("REFER"), 403],
    ["SUBSCRIBE", request("SUBSCRIBE"), 489],
    ["MESSAGE", request("MESSAGE"), 405],
    ["NOTIFY", request("NOTIFY"), 405],
    ["BYE", request("BYE"), 481],
    ["CANCEL", request("CANCEL"), 481],
    ["PRACK", request("PRACK"), 481],
    ["UPDATE", request("UPDATE"), 481],
    ["an INVITE in a dialog", request("INVITE", [], { to: "<sip:a@b>;tag=2" }), 481],
    ["an unknown method", request("NEWMETHOD"), 501],
    ["an unknown scheme", request("INVITE", [], { target: "http://a" }), 416],
    ["no scheme", request("INVITE", [], { target: "somebody" }), 400],
    ["no hops left", request("INVITE", ["Max-Forwards: 0"]), 483],
    ["hops that are no number", request("INVITE", ["Max-Forwards: many"]), 400],
    ["an option we lack", request("INVITE", ["Require: 100rel, blue"]), 420],
    ["options we have", request("INVITE", ["Require: 100rel", "Require: timer"]), "invite"],
    ["CANCEL with an option we lack", request("CANCEL", ["Require: blue"]), 481],
    ["a sequence beyond all bounds", request("INVITE", [], { cseq: "2147483648" }), 400],
    ["the last sequence, with zeros before it", request("INVITE", [], { cseq: "0002147483647" }), "invite"],
    ["From of punctuation", request("OPTIONS", [], { from: "<;:@,>" }), 400],
    ["To of punctuation", request("OPTIONS", [], { to: '"";;<>@:' }), 400],
    ["To with a scheme and nothing else", request("OPTIONS", [], { to: "<sip:@;;>" }), 400],
    ["To of another scheme", request("OPTIONS", [], { to: "A <urn:service:sos>" }), 200],
    ["To with a quoted bracket", request("OPTIONS", [], { to: '"a < b" <sip:a@b>' }), 200],
    ["Via without a host", request("OPTIONS", [], { via: "SIP/2.0/UDP " }), 400],
    ["Via with a port alone", request("OPTIONS", [], { via: "SIP/2.0/UDP :5060" }), 400],
    ["Via with spaces and an IPv6 host", request("OPTIONS", [], { via: "SIP / 2.0 / TCP  [2001:db8::1]:5060" }), 200],
    ["a sequence of another method", request("INVITE").replace("1 INVITE", "1 OPTIONS"), 400],
    ["no Call-ID", request("INVITE").replace("Call-ID: x\r\n", ""), 400],
    ["no branch", request("INVITE").replace(";branch=z9hG4bK1", ""), 400]
  ])("%s: %s", (_name, text, expected) => {
    expect(judged(text)).toBe(expected)
  })
})
