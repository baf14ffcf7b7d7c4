// Bodies nobody can read, wherever one may come: they are refused or overlooked before sip.js sees them, and no timer of
// a call that was begun half-way is left to throw.
import { setTimeout as rest } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { type Said, sdp, Talk } from "./SipPeer.ts"
import { until, withServer } from "./SipTestServer.ts"

/** The first retransmission of a 200 comes after 500 ms, the second 1 s later. */
const timersMs = 1_700

const bodies: ReadonlyArray<readonly [name: string, status: number, said: (port: number) => Said]> = [
  ["without a type", 400, (port) => ({ body: sdp(port), type: "" })],
  ["with a disposition and no type", 400, (port) => said(sdp(port), "", "Content-Disposition: session")],
  ["of blanks without a type", 400, () => ({ body: " \r\n", type: "" })],
  ["of blanks", 400, () => ({ body: " \r\n" })],
  ["with a type that is none", 400, (port) => ({ body: sdp(port), type: "application" })],
  ["with two types", 400, (port) => said(sdp(port), "application/sdp", "c: text/plain")],
  ["with a disposition that is none", 400, (port) => said(sdp(port), "application/sdp", "Content-Disposition: ;;")],
  ["of another type", 415, () => ({ body: "hello", type: "text/plain" })],
  ["for another purpose", 415, (port) => said(sdp(port), "application/sdp", "Content-Disposition: render")],
  ["that is packed", 415, (port) => said(sdp(port), "application/sdp", "Content-Encoding: gzip")],
  ["of parts, none a description", 415, () => ({ body: parts("text/plain", "hello"), type: multipart })]
]

const said = (body: string, type: string, header: string): Said => ({ body, type, headers: [header] })
const multipart = 'multipart/mixed; boundary="b-1"'
const parts = (type: string, body: string): string =>
  `--b-1\r\nContent-Type: text/html\r\n\r\n<p>\r\n--b-1\r\nContent-Type: ${type}\r\n\r\n${body}\r\n--b-1--\r\n`

describe("an INVITE with a body", () => {
  it.each(bodies)("%s gets %i", (_name, status, saying) =>
    withServer(async (server) => {
      const { rtp, talk } = await server.caller()
      talk.request("INVITE", saying(rtp.port))
      await talk.expect(status)
      expect(server.taken).toEqual([])
      expect(server.sip.count()).toBe(0)
    })()
  )

  it(
    "leaves no timer behind that throws",
    withServer(async (server) => {
      for (const [, status, saying] of bodies) {
        const { rtp, talk } = await server.caller()
        talk.request("INVITE", saying(rtp.port))
        await talk.expect(status)
      }
      await rest(timersMs)
    })
  )

  it(
    "of parts is taken by its description",
    withServer(async (server) => {
      const { rtp, talk } = await server.caller()
      await talk.connect({ body: parts("application/sdp", sdp(rtp.port)), type: multipart })
      await until(() => rtp.packets > 3, "no sound")
      await talk.bye()
    })
  )
})

describe("within a call, a body", () => {
  it.each(bodies)("%s: the re-INVITE gets %i, the next one is taken", (_name, status, saying) =>
    withServer(async (server) => {
      const { rtp, talk } = await server.caller()
      await talk.connect({ body: sdp(rtp.port) })
      talk.request("INVITE", saying(rtp.port))
      await talk.expect(status)
      talk.request("UPDATE", saying(rtp.port))
      await talk.expect(status, "UPDATE")
      talk.request("INVITE", { body: sdp(rtp.port, "sendrecv", 0, 2) })
      await talk.expect(200)
      talk.request("ACK")
      await talk.bye()
    })()
  )

  it.each(bodies)("%s: in the ACK to our offer it is no answer, and the call ends", (_name, _status, saying) =>
    withServer(async (server) => {
      const { rtp, talk } = await server.caller()
      talk.request("INVITE")
      await talk.expect(200)
      talk.request("ACK", saying(rtp.port))
      talk.answer(await talk.heard("BYE"), 200)
    })()
  )

  it.each(["INFO", "NOTIFY", "PRACK", "REFER", "MESSAGE", "BYE"])("without a type hurts nobody in %s", (method) =>
    withServer(
      async (server) => {
        const { rtp, talk } = await server.caller()
        await talk.connect({ body: sdp(rtp.port) })
        talk.request(method, { body: "Signal=5", type: "", headers: ["Event: refer", "RAck: 1 1 INVITE"] })
        await server.sip.check({ uri: "127.0.0.1:9", transport: "udp", credentials: undefined })
        if (method === "BYE") return void (await talk.expect(200, "BYE"))
        await talk.bye()
      },
      { timings: { checkMs: 100 } }
    )()
  )
})

describe("the answer to a call of ours with a body", () => {
  it.each(bodies)("%s is acknowledged and ended", (_name, _status, saying) =>
    withServer(async (server) => {
      const peer = await server.listener()
      const { port } = await server.rtp()
      const dialling = server.dial(peer)
      const invite = await peer.next("INVITE")
      const talk = Talk.calledBy(peer, invite)
      talk.answer(invite, 183, saying(port))
      talk.answer(invite, 200, saying(port))
      await talk.heard("ACK")
      talk.answer(await talk.heard("BYE"), 200)
      expect(await dialling.outcome).toMatchObject({ status: "failed", sipStatus: 488 })
    })()
  )
})
