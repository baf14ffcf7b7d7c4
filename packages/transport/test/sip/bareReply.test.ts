// Answers made from a request's own lines.
import { describe, expect, it } from "vitest"
import { bareReply } from "../../src/sip/bareReply.ts"

const request = [
  "OPTIONS sip:a@b SIP/2.0",
  "Via: SIP/2.0/UDP x;branch=1",
  "v: SIP/2.0/UDP y;branch=2",
  "f: <sip:c@d>;tag=1",
  "t: <sip:a@b>",
  "i: id",
  "CSeq: 5 OPTIONS",
  "",
  "Via: body"
].join("\r\n")

describe("a bare reply", () => {
  it("has the request's lines, a tag and no body", () => {
    const reply = bareReply(request, 405, ["Allow: INVITE"]) ?? ""
    const tag = /;tag=(\w+)\r\nCall/.exec(reply)?.[1]
    expect(reply.split("\r\n")).toEqual([
      "SIP/2.0 405 Method Not Allowed",
      "Via: SIP/2.0/UDP x;branch=1",
      "v: SIP/2.0/UDP y;branch=2",
      "From: <sip:c@d>;tag=1",
      `To: <sip:a@b>;tag=${tag}`,
      "Call-ID: id",
      "CSeq: 5 OPTIONS",
      "Allow: INVITE",
      "Content-Length: 0",
      "",
      ""
    ])
    expect(bareReply(request, 405, ["Allow: INVITE"])).toBe(reply)
  })

  it("keeps a tag that is there, and gives none to 100", () => {
    expect(bareReply(request.replace("<sip:a@b>", "<sip:a@b>;tag=9"), 481)).toContain("To: <sip:a@b>;tag=9\r\n")
    expect(bareReply(request, 100)).toContain("To: <sip:a@b>\r\n")
  })

  it.each([
    "Via: SIP/2.0/UDP x;branch=1\r\nv: SIP/2.0/UDP y;branch=2\r\n",
    "f: <sip:c@d>;tag=1\r\n",
    "t: <sip:a@b>\r\n",
    "i: id\r\n",
    "CSeq: 5 OPTIONS\r\n"
  ])("is not made without %j", (line) => {
    expect(bareReply(request.replace(line, ""), 400)).toBeUndefined()
  })

  it("cannot be made longer by its sender than a few dozen Vias", () => {
    const many = request.replace("Via:", `${"Via: z\r\n".repeat(500)}Via:`)
    expect(bareReply(many, 400)?.match(/^via/gim)?.length).toBe(50)
  })
})
