// A stream cut anywhere gives the same messages.
import { describe, expect, it } from "vitest"
import { Framing } from "../../src/sip/framing.ts"

const message = (body: string, length = `Content-Length: ${Buffer.byteLength(body)}`) =>
  `OPTIONS sip:a@b SIP/2.0\r\nVia: x\r\n${length}\r\n\r\n${body}`
const first = message("äbc\r\n\r\ndef")
const second = message("")

describe("framing", () => {
  const stream = Buffer.from(`\r\n${first}\r\n\r\n${second}${message("x", "l : 1")}`)
  const whole = ["message", "ping", "message", "message"]

  it("gives whole messages, whatever the cut", () => {
    for (let cut = 0; cut <= stream.length; cut++) {
      const framing = new Framing()
      const got = [...framing.push(stream.subarray(0, cut)), ...framing.push(stream.subarray(cut))]
      expect(
        got.map((one) => one.kind),
        `cut at ${cut}`
      ).toEqual(whole)
      expect(got.flatMap((one) => (one.kind === "message" ? [one.text] : []))).toEqual([
        first,
        second,
        message("x", "l : 1")
      ])
    }
  })

  it("gives them byte by byte", () => {
    const framing = new Framing()
    const got = [...stream].flatMap((byte) => framing.push(Buffer.from([byte])))
    expect(got.map((one) => one.kind)).toEqual(whole)
  })

  it.each([
    ["a head without an end", Buffer.alloc(40_000, "a")],
    ["no Content-Length", Buffer.from("OPTIONS sip:a SIP/2.0\r\nVia: x\r\n\r\n")],
    ["no Content-Length", Buffer.from(message("", "Content-Length: -5"))],
    ["no Content-Length", Buffer.from(message("", "Content-Length: 99999999999"))],
    ["too long", Buffer.from(message("", `Content-Length: ${65_536}`))]
  ])("reads on after nothing of %s", (why, bytes) => {
    const framing = new Framing()
    expect(framing.push(bytes)).toEqual([{ kind: "broken", why }])
    expect(framing.push(Buffer.from(second))).toEqual([])
  })
})
