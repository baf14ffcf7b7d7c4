// What happens within a call that is up: hold, other codecs, refreshes, keys, questions, routes.
import { setTimeout as rest } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { withServer, until, type SipTestServer } from "./SipTestServer.ts"
import { rtpPortIn, sdp, type Said, Talk, token } from "./SipPeer.ts"

const up = async (server: SipTestServer, said: Said = {}, way: "udp" | "tcp" = "udp") => {
  const { peer, rtp, talk } = await server.caller(way)
  const ok = await talk.connect({ body: sdp(rtp.port), ...said })
  await until(() => server.taken.length === 1, "no leg")
  const [taken] = server.taken
  if (taken?.leg === undefined) throw new Error("no leg")
  return { peer, rtp, talk, ok, taken, leg: taken.leg }
}

describe("a re-INVITE", () => {
  it(
    "holds and resumes",
    withServer(async (server) => {
      const { rtp, talk } = await up(server)
      talk.request("INVITE", { body: sdp(rtp.port, "sendonly", 0, 2) })
      expect((await talk.expect(200)).body).toContain("a=recvonly")
      talk.request("ACK")
      await rest(80)
      const held = rtp.packets
      await rest(200)
      expect(rtp.packets).toBe(held)
      talk.request("INVITE", { body: sdp(rtp.port, "sendrecv", 0, 3) })
      expect((await talk.expect(200)).body).toContain("a=sendrecv")
      talk.request("ACK")
      await until(() => rtp.packets > held + 3, "not resumed")
      await talk.bye()
    })
  )

  it(
    "without an offer gets ours, and takes the answer of the ACK",
    withServer(async (server) => {
      const { rtp, talk } = await up(server)
      talk.request("INVITE")
      expect((await talk.expect(200)).body).toContain("m=audio")
      talk.request("ACK", { body: sdp(rtp.port, "sendrecv", 8) })
      await until(() => rtp.lastType === 8, "the codec did not change")
      await talk.bye()
    })
  )

  it.each([
    ["PCMA", 8],
    ["Opus", 111]
  ])("changes the codec to %s", async (_name, codec) =>
    withServer(async (server) => {
      const { rtp, talk } = await up(server)
      await until(() => rtp.lastType === 0, "no sound")
      talk.request("INVITE", { body: sdp(rtp.port, "sendrecv", codec, 2) })
      await talk.expect(200)
      talk.request("ACK")
      await until(() => rtp.lastType === codec, "the codec did not change")
      await talk.bye()
    })()
  )

  it(
    "moves the sound to another port",
    withServer(async (server) => {
      const { talk } = await up(server)
      const other = await server.rtp()
      talk.request("INVITE", { body: sdp(other.port, "sendrecv", 0, 2) })
      await talk.expect(200)
      talk.request("ACK")
      await until(() => other.packets > 3, "the sound did not move")
      await talk.bye()
    })
  )

  it(
    "that fits nothing is refused, and the call goes on",
    withServer(async (server) => {
      const { rtp, talk } = await up(server)
      talk.request("INVITE", { body: "v=0\r\nc=IN IP4 127.0.0.1\r\nm=audio 9 RTP/AVP 3\r\n" })
      await talk.expect(488)
      talk.request("ACK", { branch: talk.inviteBranch })
      const before = rtp.packets
      await until(() => rtp.packets > before + 3, "the sound stopped")
      await talk.bye()
    })
  )

  it(
    "sent again is answered again",
    withServer(async (server) => {
      const { peer, rtp, talk } = await up(server)
      const again = talk.request("INVITE", { body: sdp(rtp.port, "sendonly", 0, 2) })
      await talk.expect(200)
      peer.send(again)
      await talk.expect(200)
      talk.request("ACK")
      await talk.bye()
    })
  )

  it(
    "by a far side on another port takes the flow along",
    withServer(async (server) => {
      const { rtp, talk, leg } = await up(server)
      const moved = await server.peer()
      Object.assign(talk, { peer: moved, contact: `<sip:peer@127.0.0.1:${moved.port}>` })
      talk.request("INVITE", { body: sdp(rtp.port, "sendrecv", 0, 2) })
      await talk.expect(200)
      talk.request("ACK")
      leg.close("agent_hangup")
      talk.answer(await talk.heard("BYE"), 200)
    })
  )
})

describe("an UPDATE", () => {
  it(
    "holds",
    withServer(async (server) => {
      const { rtp, talk } = await up(server)
      talk.request("UPDATE", { body: sdp(rtp.port, "sendonly", 0, 2) })
      expect((await talk.expect(200, "UPDATE")).body).toContain("a=recvonly")
      await talk.bye()
    })
  )

  it(
    "without a body refreshes the session",
    withServer(async (server) => {
      const { talk } = await up(server)
      talk.request("UPDATE", { headers: ["Supported: timer", "Session-Expires: 300;refresher=uac"] })
      const ok = await talk.expect(200, "UPDATE")
      expect(ok.body).toBe("")
      expect(ok.header("session-expires")).toBe("300;refresher=uac")
      await talk.bye()
    })
  )

  it(
    "that fits nothing is refused",
    withServer(async (server) => {
      const { talk } = await up(server)
      talk.request("UPDATE", { body: "v=0\r\nc=IN IP4 127.0.0.1\r\nm=audio 9 RTP/AVP 3\r\n" })
      await talk.expect(488, "UPDATE")
      await talk.bye()
    })
  )

  it(
    "before there is an answer is put off",
    withServer(
      async (server) => {
        const { rtp, talk } = await server.caller()
        talk.request("INVITE", { body: sdp(rtp.port) })
        const ring = await talk.expect(180)
        talk.target = /<([^>]+)>/.exec(ring.header("contact"))?.[1] ?? ""
        talk.request("UPDATE", { body: sdp(rtp.port, "sendonly", 0, 2) })
        expect((await talk.expect(500, "UPDATE")).header("retry-after")).not.toBe("")
        talk.request("CANCEL")
        await talk.expect(487)
        talk.request("ACK", { branch: talk.inviteBranch })
      },
      {},
      (call) => call.ring()
    )
  )
})

const timed = { headers: ["Supported: timer", "Session-Expires: 90;refresher=uas"] }
/** Ninety seconds in less than one. */
const quick = { timings: { secondMs: 8 } }

describe("a session timer", () => {
  it(
    "of ours is kept by our re-INVITE",
    withServer(async (server) => {
      const { rtp, talk, ok } = await up(server, timed)
      expect(ok.header("session-expires")).toBe("90;refresher=uas")
      const refresh = await talk.heard("INVITE")
      expect(refresh.header("session-expires")).toBe("90;refresher=uac")
      talk.answer(refresh, 200, {
        body: sdp(rtp.port),
        headers: ["Session-Expires: 90;refresher=uac"]
      })
      await talk.heard("ACK")
      const second = await talk.heard("INVITE")
      expect(second.cseq).toBeGreaterThan(refresh.cseq)
      talk.answer(second, 200, { body: sdp(rtp.port), headers: ["Session-Expires: 90;refresher=uac"] })
      await talk.heard("ACK")
      await talk.bye()
    }, quick)
  )

  it(
    "of theirs that is refreshed keeps the call, and ends it when it is not",
    withServer(async (server) => {
      const { rtp, talk, taken } = await up(server, {
        headers: ["Supported: timer", "Session-Expires: 90;refresher=uac"]
      })
      for (const _ of [1, 2, 3]) {
        await rest(200)
        talk.request("INVITE", {
          body: sdp(rtp.port),
          headers: ["Supported: timer", "Session-Expires: 90;refresher=uac"]
        })
        await talk.expect(200)
        talk.request("ACK")
      }
      expect(taken.closed).toEqual([])
      talk.answer(await talk.heard("BYE"), 200)
      expect(taken.closed).toEqual(["lost"])
    }, quick)
  )

  it.each([408, 481])("of ours, refreshed and answered %i, ends the call", (status) =>
    withServer(async (server) => {
      const { talk, taken } = await up(server, timed)
      talk.answer(await talk.heard("INVITE"), status)
      await talk.heard("ACK")
      talk.answer(await talk.heard("BYE"), 481)
      expect(taken.closed).toEqual(["lost"])
    }, quick)()
  )

  it(
    "below 90 s is refused",
    withServer(async (server) => {
      const { rtp, talk } = await server.caller()
      talk.request("INVITE", { body: sdp(rtp.port), headers: ["Supported: timer", "Session-Expires: 60"] })
      expect((await talk.expect(422)).header("min-se")).toBe("90")
      talk.request("ACK", { branch: talk.inviteBranch })
    })
  )

  it(
    "of ours that meets a re-INVITE of theirs: 491, and tried again",
    withServer(async (server) => {
      const { rtp, talk } = await up(server, timed)
      const ours = await talk.heard("INVITE")
      talk.request("INVITE", { body: sdp(rtp.port, "sendonly", 0, 2) })
      await talk.expect(491)
      talk.request("ACK", { branch: talk.inviteBranch })
      talk.answer(ours, 491)
      await talk.heard("ACK")
      const again = await talk.heard("INVITE")
      expect(again.cseq).toBeGreaterThan(ours.cseq)
      talk.answer(again, 200, { body: sdp(rtp.port), headers: ["Session-Expires: 1800;refresher=uac"] })
      await talk.heard("ACK")
      await talk.bye()
    }, quick)
  )
})

describe("keys and questions", () => {
  it.each([
    ["application/dtmf-relay", "Signal=5\r\nDuration=160\r\n", ["5"]],
    ["application/dtmf-relay", "Signal= *\r\nDuration= 160\r\n", ["*"]],
    ["application/dtmf-relay", "Signal=11\r\n", ["#"]],
    ["application/dtmf", "7", ["7"]],
    ["application/dtmf-relay", "Signal=99\r\n", []],
    ["application/json", "{}", []]
  ])("INFO %s %j is heard as %j", async (type, body, digits) =>
    withServer(async (server) => {
      const { peer, talk, taken } = await up(server)
      const info = talk.request("INFO", { type, body })
      await talk.expect(200, "INFO")
      peer.send(info)
      await talk.expect(200, "INFO")
      expect(taken.digits).toEqual(digits)
      await talk.bye()
    })()
  )

  it(
    "RFC 4733 keys are heard once each",
    withServer(async (server) => {
      const { rtp, talk, ok, taken } = await up(server)
      const to = rtpPortIn(ok.body)
      for (const key of [4, 2]) {
        for (const end of [0, 0, 0x80, 0x80, 0x80]) {
          rtp.send(to, 101, Buffer.from([key, end | 10, key, 160]))
          await rest(5)
        }
      }
      await until(() => taken.digits.length > 0, "no key")
      await talk.bye()
    })
  )

  it(
    "OPTIONS is answered in a call and outside of one",
    withServer(async (server) => {
      const { peer, talk } = await up(server)
      talk.request("OPTIONS")
      const ok = await talk.expect(200, "OPTIONS")
      expect(ok.header("allow")).toContain("INVITE")
      const outside = new Talk(peer, "+15550100")
      outside.request("OPTIONS")
      const answer = await outside.expect(200, "OPTIONS")
      expect(answer.header("accept")).toBe("application/sdp")
      expect(answer.header("supported")).toContain("timer")
      await talk.bye()
    })
  )

  it(
    "a REFER is refused, in a call and outside of one",
    withServer(async (server) => {
      const { peer, talk } = await up(server)
      talk.request("REFER", { headers: ["Refer-To: <sip:x@127.0.0.1>"] })
      await talk.expect(603, "REFER")
      const outside = new Talk(peer, "+15550100")
      outside.request("REFER", { headers: ["Refer-To: <sip:x@127.0.0.1>"] })
      await outside.expect(403, "REFER")
      await talk.bye()
    })
  )

  it(
    "a MESSAGE and a method nobody knows are refused, and the call goes on",
    withServer(async (server) => {
      const { talk } = await up(server)
      talk.request("MESSAGE", { type: "text/plain", body: "hello" })
      await talk.expect(415, "MESSAGE")
      talk.request("DANCE")
      await talk.expect(501, "DANCE")
      await talk.bye()
    })
  )

  it(
    "a request out of order is refused",
    withServer(async (server) => {
      const { talk } = await up(server)
      talk.request("INFO", { cseq: 50, type: "application/dtmf", body: "1" })
      await talk.expect(200, "INFO")
      talk.request("INFO", { cseq: 40, type: "application/dtmf", body: "2" })
      await talk.expect(500, "INFO")
      talk.cseq = 60
      await talk.bye()
    })
  )
})

const farVia = () => `Via: SIP/2.0/UDP 192.0.2.77:9999;rport;branch=z9hG4bK${token()}`

describe("where requests of ours go", () => {
  it(
    "along the Record-Route, by its first proxy",
    withServer(async (server) => {
      const proxy = await server.listener()
      const route = `<sip:127.0.0.1:${proxy.port};lr>`
      const { leg, talk } = await up(server, { headers: [`Record-Route: ${route}`] })
      leg.close("agent_hangup")
      const bye = await proxy.next("BYE")
      expect(bye.header("route")).toBe(route)
      talk.answer(bye, 200)
    })
  )

  it(
    "to a Contact that is elsewhere",
    withServer(async (server) => {
      const { rtp, talk } = await server.caller()
      const elsewhere = await server.listener()
      talk.contact = `<sip:peer@127.0.0.1:${elsewhere.port}>`
      await talk.connect({ body: sdp(rtp.port) })
      await until(() => server.taken.length === 1, "no leg")
      server.taken[0]?.leg?.close("agent_hangup")
      talk.answer(await elsewhere.next("BYE"), 200)
    })
  )

  it(
    "to a Contact that moved with a re-INVITE",
    withServer(async (server) => {
      const { leg, rtp, talk } = await up(server)
      const elsewhere = await server.listener()
      talk.contact = `<sip:peer@127.0.0.1:${elsewhere.port}>`
      talk.request("INVITE", { body: sdp(rtp.port) })
      await talk.expect(200)
      talk.request("ACK")
      await rest(50)
      leg.close("agent_hangup")
      talk.answer(await elsewhere.next("BYE"), 200)
    })
  )

  it(
    "answers back to where a request came from, whatever its Via says",
    withServer(async (server) => {
      const { peer, rtp, talk } = await server.caller()
      talk.request("INVITE", { via: farVia(), body: sdp(rtp.port) })
      const ok = await talk.expect(200)
      expect(ok.header("via")).toContain(`rport=${peer.port}`)
      expect(ok.header("via")).toContain("received=127.0.0.1")
      talk.request("ACK", { via: farVia() })
      talk.request("BYE", { via: farVia() })
      await talk.expect(200, "BYE")
    })
  )
})

const moving = async (server: SipTestServer) => {
  const { leg, talk } = await up(server)
  const telephone = leg.telephone
  const outcome = telephone.refer("sip:+15550166@127.0.0.1", { "X-Vendor-Session-Id": "abc" })
  const refer = await talk.heard("REFER")
  expect(refer.header("refer-to")).toBe("<sip:+15550166@127.0.0.1>")
  expect(refer.header("x-vendor-session-id")).toBe("abc")
  const notify = (status: string, state = "terminated;reason=noresource") =>
    talk.request("NOTIFY", {
      headers: ["Event: refer", `Subscription-State: ${state}`],
      type: "message/sipfrag;version=2.0",
      body: status
    })
  return { leg, talk, outcome, refer, notify }
}

describe("a transfer of ours", () => {
  it(
    "is done when the NOTIFY says 200",
    withServer(async (server) => {
      const { notify, outcome, refer, talk, leg } = await moving(server)
      talk.answer(refer, 202)
      notify("SIP/2.0 100 Trying", "active;expires=60")
      await talk.expect(200, "NOTIFY")
      notify("SIP/2.0 200 OK")
      await talk.expect(200, "NOTIFY")
      expect(await outcome).toBe("transferred")
      leg.close("agent_hangup")
      talk.answer(await talk.heard("BYE"), 200)
    })
  )

  it.each(["SIP/2.0 486 Busy Here", "SIP/2.0 404 Not Found", "nothing that is a status"])(
    "is refused when the NOTIFY says %s, and the call goes on",
    (status) =>
      withServer(async (server) => {
        const { notify, outcome, refer, talk } = await moving(server)
        talk.answer(refer, 202)
        notify(status)
        expect(await outcome).toBe("refused")
        expect(server.sip.count()).toBe(1)
        await talk.expect(200, "NOTIFY")
        await talk.bye()
      })()
  )

  it.each([603, 405, 481])("is refused at once with %i", (status) =>
    withServer(async (server) => {
      const { outcome, refer, talk } = await moving(server)
      talk.answer(refer, status)
      expect(await outcome).toBe("refused")
      await talk.bye()
    })()
  )

  it(
    "that nobody reports on is refused in time",
    withServer(
      async (server) => {
        const { outcome, refer, talk } = await moving(server)
        talk.answer(refer, 202)
        expect(await outcome).toBe("refused")
        await talk.bye()
      },
      { timings: { referMs: 200 } }
    )
  )

  it(
    "whose far side hangs up meanwhile is refused, and the leg is told",
    withServer(async (server) => {
      const { outcome, refer, talk } = await moving(server)
      talk.answer(refer, 202)
      await talk.bye()
      expect(await outcome).toBe("refused")
      expect(server.taken[0]?.closed).toEqual(["left"])
    })
  )
})
