// The torture messages, each through the real server and through the stages before the grammar.
import { setTimeout as rest } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { parse } from "../../../src/sip/SipCore.ts"
import { addBranch, peekHeaders, normalise, addReceived, unfolded } from "../../../src/sip/text.ts"
import { type SipTestServer, openSipTestServer } from "./SipTestServer.ts"
import { type Heard, SipPeer } from "./SipPeer.ts"
import { invalid, ipv6, semantic, type Torture, valid } from "./torture.data.ts"

const everybody = { id: "any", allowedAddresses: ["127.0.0.0/8"], digest: undefined }
let server: SipTestServer | undefined
beforeAll(async () => {
  server = await openSipTestServer({ handlers: { trunksOf: async () => [everybody] } }, (call) => call.refuse(486))
})
afterAll(() => server?.close())

const said = async (message: string): Promise<ReadonlyArray<Heard>> => {
  const peer = await SipPeer.open("udp", server?.port ?? 0)
  const heard: Array<Heard> = []
  peer.onHeard = (one) => {
    if (one.status !== 100) heard.push(one)
    return true
  }
  peer.send(message)
  // The answer to this comes after any answer to that.
  const last = [
    "OPTIONS sip:x@127.0.0.1 SIP/2.0",
    `Via: SIP/2.0/UDP 127.0.0.1:${peer.port};rport;branch=z9hG4bKlast`,
    "From: <sip:a@b>;tag=1",
    "To: <sip:x@127.0.0.1>",
    "Call-ID: last",
    "CSeq: 1 OPTIONS",
    "",
    ""
  ].join("\r\n")
  peer.send(last)
  const limit = performance.now() + 5_000
  while (!heard.some(({ callId }) => callId === "last") && performance.now() < limit) await rest(2)
  await rest(20)
  peer.close()
  return heard.filter(({ callId }) => callId !== "last")
}

const isParsed = (message: string): boolean => {
  const whole = unfolded(message)
  if (peekHeaders(whole) === undefined) return false
  const text = normalise(addReceived(addBranch(whole), { address: "127.0.0.1", port: 9 }))
  return text !== undefined && parse(text) !== undefined
}

describe.each<[string, ReadonlyArray<Torture>]>([
  ["RFC 4475, 3.1.1: valid messages", valid],
  ["RFC 4475, 3.1.2: invalid messages", invalid],
  ["RFC 4475, 3.2 to 3.4: transactions, semantics, old times", semantic],
  ["RFC 5118: IPv6", ipv6]
])("%s", (_name, messages) => {
  it.each(messages)("$name: $answer", async ({ answer, message, parsed }) => {
    const heard = await said(message)
    expect({ answers: heard.map(({ status }) => status), parsed: isParsed(message) }).toEqual({
      answers: answer === "dropped" ? [] : [answer],
      parsed
    })
  })
})

const invite = (cseq: string): string =>
  [
    "INVITE sip:x@127.0.0.1 SIP/2.0",
    `Via: SIP/2.0/UDP 127.0.0.1:9;rport;branch=z9hG4bK${cseq}`,
    "From: <sip:a@b>;tag=1",
    "To: <sip:x@127.0.0.1>",
    `Call-ID: more${cseq}`,
    `CSeq: ${cseq} INVITE`,
    "Contact: <sip:a@127.0.0.1:9>",
    "",
    ""
  ].join("\r\n")

describe("over UDP", () => {
  it.each([
    ["empty lines before a message mean nothing (RFC 3261, 7.5)", `\r\n\r\n\r\n${invite("7")}`, 486],
    ["the last number of a sequence is one", invite("0002147483647"), 486],
    ["the one after it is none", invite("2147483648"), 400]
  ])("%s", async (_name, message, status) => {
    expect((await said(message)).map((heard) => heard.status)).toEqual([status])
  })
})

it("are all of RFC 4475", () => {
  expect(valid.length + invalid.length + semantic.length).toBe(49)
  expect(server?.sip.count()).toBe(0)
})
