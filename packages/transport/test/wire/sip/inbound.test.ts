// Calls that come in, word by word against a real server: how they begin, ring, are answered and end.
import { setTimeout as rest } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import type { IncomingCall } from "../../../src/phone/Phone.ts"
import { withServer, until } from "./SipTestServer.ts"
import { rtpPortIn, sdp, token } from "./SipPeer.ts"

/** A call that only rings. */
const ringing = (call: IncomingCall): void => call.ring()

const said = (rtp: { readonly port: number }, direction?: string, codec?: number) => ({
  body: sdp(rtp.port, direction, codec)
})

describe.each(["udp", "tcp"] as const)("a call that comes in over %s", (way) => {
  it(
    "rings, is answered, carries sound both ways and ends with their BYE",
    withServer(async (server) => {
      const { rtp, talk } = await server.caller(way)
      talk.request("INVITE", said(rtp))
      await talk.expect(100)
      await talk.expect(180)
      const ok = await talk.expect(200)
      talk.request("ACK")
      expect(ok.header("server") || ok.header("user-agent")).toBe("Parley")
      await until(() => server.taken.length === 1, "no leg")
      for (let i = 0; i < 25; i++) {
        rtp.send(rtpPortIn(ok.body))
        await rest(10)
      }
      await until(() => rtp.packets > 5, "nothing is heard from the server")
      await until(() => (server.taken[0]?.frames ?? 0) > 5, "nothing is heard by the leg")
      expect(server.sip.count()).toBe(1)
      await talk.bye()
      expect(server.taken[0]?.closed).toEqual(["left"])
      const what = server.taken[0]?.leg?.sipTrace().map((line) => line.what) ?? []
      expect(what).toEqual(expect.arrayContaining(["INVITE", "180 Ringing", "200 OK", "ACK", "BYE"]))
    })
  )

  it(
    "ends with our BYE",
    withServer(async (server) => {
      const { rtp, talk } = await server.caller(way)
      await talk.connect(said(rtp))
      await until(() => server.taken.length === 1, "no leg")
      server.taken[0]?.leg?.close("agent_hangup")
      talk.answer(await talk.heard("BYE"), 200)
      expect(server.taken[0]?.closed).toEqual([])
    })
  )

  it(
    "is given up while it rings",
    withServer(
      async (server) => {
        const { rtp, talk } = await server.caller(way)
        talk.request("INVITE", said(rtp))
        await talk.expect(180)
        talk.request("CANCEL")
        await talk.expect(200, "CANCEL")
        await talk.expect(487)
        talk.request("ACK", { branch: talk.inviteBranch })
        await until(() => server.sipTraces.has(talk.callId), "no sipTrace of a call without a leg")
      },
      {},
      ringing
    )
  )
})

describe("the caller", () => {
  it.each([
    ["From", [], "+15550199"],
    ["P-Asserted-Identity", ['P-Asserted-Identity: "A" <sip:+15550188@x.example>'], "+15550188"],
    ["nobody, for privacy", ["P-Asserted-Identity: <sip:+15550188@x.example>", "Privacy: id"], ""]
  ])("is named by %s", async (_name, headers, expected) =>
    withServer(async (server) => {
      const { rtp, talk } = await server.caller()
      await talk.connect({ ...said(rtp), headers })
      await until(() => server.taken.length === 1, "no leg")
      expect(server.taken[0]?.call.callerNumber).toBe(expected)
      expect(server.taken[0]?.call.dialedNumber).toBe("+15550100")
      await talk.bye()
    })()
  )
})

describe("an INVITE", () => {
  it(
    "without an offer gets one, answered in the ACK",
    withServer(async (server) => {
      const { rtp, talk } = await server.caller()
      talk.request("INVITE")
      const ok = await talk.expect(200)
      expect(ok.body).toContain("m=audio")
      expect(ok.body).toContain("RTP/AVP 0 8 111")
      talk.request("ACK", said(rtp))
      await until(() => server.taken.length === 1 && rtp.packets > 3, "no sound")
      await talk.bye()
    })
  )

  it(
    "without an offer, whose ACK brings no answer, is ended",
    withServer(async (server) => {
      const { talk } = await server.caller()
      talk.request("INVITE")
      await talk.expect(200)
      talk.request("ACK")
      talk.answer(await talk.heard("BYE"), 200)
      await until(() => server.taken.length === 1, "nobody was told")
      expect(server.taken[0]?.leg).toBeUndefined()
    })
  )

  it(
    "without an offer, that nobody acknowledges, is ended",
    withServer(
      async (server) => {
        const { talk } = await server.caller()
        talk.request("INVITE")
        await talk.expect(200)
        await until(() => server.taken.length === 1, "nobody was told")
        expect(server.taken[0]?.leg).toBeUndefined()
      },
      { timings: { ackMs: 300 } }
    )
  )

  it(
    "whose offer fits nothing is refused",
    withServer(async (server) => {
      const { talk } = await server.caller()
      talk.request("INVITE", { body: "v=0\r\nc=IN IP4 127.0.0.1\r\nm=audio 9 RTP/AVP 3\r\n" })
      await talk.expect(488)
      talk.request("ACK", { branch: talk.inviteBranch })
    })
  )

  it(
    "that is sent again is one call",
    withServer(async (server) => {
      const { peer, rtp, talk } = await server.caller()
      const invite = talk.request("INVITE", said(rtp))
      peer.send(invite)
      await talk.expect(180)
      peer.send(invite)
      await talk.expect(200)
      peer.send(invite)
      talk.request("ACK")
      await rest(100)
      expect(server.taken.length).toBe(1)
      expect(server.sip.count()).toBe(1)
      await talk.bye()
    })
  )

  it(
    "that comes by two ways is refused by the second",
    withServer(
      async (server) => {
        const { rtp, talk } = await server.caller()
        talk.request("INVITE", said(rtp))
        await talk.expect(180)
        talk.request("INVITE", { ...said(rtp), cseq: talk.inviteCseq, untagged: true, branch: `z9hG4bK${token()}` })
        await talk.expect(482)
        talk.request("CANCEL", { branch: talk.inviteBranch })
        server.taken.length = 0
      },
      {},
      (call) => {
        call.ring()
        setTimeout(() => call.refuse(486), 500)
      }
    )
  )

  it(
    "begins a new call under the name of a finished one, and is judged anew",
    withServer(async (server) => {
      const { rtp, talk } = await server.caller("udp", "+15550100")
      await talk.connect(said(rtp))
      await talk.bye()
      await until(() => server.sip.count() === 0, "it goes on")
      talk.theirTag = ""
      talk.target = "sip:+15550101@127.0.0.1"
      talk.request("INVITE", said(rtp))
      await talk.expect(401)
      talk.target = "sip:+15550100@127.0.0.1"
      talk.theirTag = ""
      await talk.connect(said(rtp))
      await until(() => server.taken.length === 2, "no second call")
      await talk.bye()
    })
  )

  it(
    "under the name of a call that is up, by a stranger, is refused and changes nothing",
    withServer(async (server) => {
      const { rtp, talk } = await server.caller()
      await talk.connect(said(rtp))
      const stranger = await server.caller()
      Object.assign(stranger.talk, { callId: talk.callId })
      stranger.talk.request("INVITE", { ...said(stranger.rtp), cseq: 50 })
      await stranger.talk.expect(482)
      stranger.talk.theirTag = "guess"
      stranger.talk.request("BYE", { cseq: 60 })
      await stranger.talk.expect(481, "BYE")
      expect(server.sip.count()).toBe(1)
      server.taken[0]?.leg?.close("agent_hangup")
      talk.answer(await talk.heard("BYE"), 200)
    })
  )

  it(
    "asking for reliable answers gets a 180 that is sent again until its PRACK",
    withServer(
      async (server) => {
        const { rtp, talk } = await server.caller()
        talk.request("INVITE", { ...said(rtp), headers: ["Require: 100rel"] })
        const ring = await talk.expect(180)
        expect(ring.header("require")).toBe("100rel")
        const again = await talk.expect(180)
        expect(again.header("rseq")).toBe(ring.header("rseq"))
        talk.target = /<([^>]+)>/.exec(ring.header("contact"))?.[1] ?? ""
        talk.request("PRACK", { headers: [`RAck: ${ring.header("rseq")} ${talk.inviteCseq} INVITE`] })
        await talk.expect(200, "PRACK")
        await talk.expect(200)
        talk.request("ACK")
        await talk.bye()
      },
      {},
      (call, take) => {
        call.ring()
        setTimeout(() => void take(), 900)
      }
    )
  )
})

describe("races", () => {
  it(
    "a CANCEL that crosses the 200 ends nothing; the BYE does",
    withServer(async (server) => {
      const { rtp, talk } = await server.caller()
      talk.request("INVITE", said(rtp))
      await talk.expect(200)
      talk.request("CANCEL")
      await talk.expect(200, "CANCEL")
      talk.request("ACK")
      expect(server.sip.count()).toBe(1)
      await talk.bye()
    })
  )

  it(
    "a CANCEL right behind its INVITE waits for the number to be looked up",
    withServer(
      async (server) => {
        const { rtp, talk } = await server.caller()
        talk.request("INVITE", said(rtp))
        talk.request("CANCEL")
        await talk.expect(200, "CANCEL")
        await talk.expect(487)
        talk.request("ACK", { branch: talk.inviteBranch })
      },
      {
        handlers: {
          trunksOf: async () => {
            await rest(100)
            return [{ id: "slow", allowedAddresses: ["127.0.0.1"], digest: undefined }]
          }
        }
      },
      ringing
    )
  )

  it(
    "a BYE before the ACK ends the call",
    withServer(async (server) => {
      const { rtp, talk } = await server.caller("tcp")
      talk.request("INVITE", said(rtp))
      await talk.expect(200)
      await talk.bye()
      expect(server.taken[0]?.closed).toEqual(["left"])
    })
  )

  it(
    "our hang-up before the ACK says BYE after it",
    withServer(async (server) => {
      const { rtp, talk } = await server.caller("tcp")
      talk.request("INVITE", said(rtp))
      await talk.expect(200)
      await until(() => server.taken.length === 1, "no leg")
      server.taken[0]?.leg?.close("agent_hangup")
      await rest(50)
      expect(talk.peer.unclaimed("BYE")).toEqual([])
      talk.request("ACK")
      talk.answer(await talk.heard("BYE"), 200)
    })
  )

  it(
    "both sides say BYE at once",
    withServer(async (server) => {
      const { rtp, talk } = await server.caller()
      await talk.connect(said(rtp))
      await until(() => server.taken.length === 1, "no leg")
      server.taken[0]?.leg?.close("agent_hangup")
      talk.request("BYE")
      const theirs = await talk.heard("BYE")
      await talk.peer.next((one) => one.cseqMethod === "BYE" && (one.status === 200 || one.status === 481))
      talk.answer(theirs, 200)
    })
  )

  it(
    "a 200 whose ACK is lost is said again, and an ACK ends that",
    withServer(async (server) => {
      const { rtp, talk } = await server.caller()
      talk.request("INVITE", said(rtp))
      const first = await talk.expect(200)
      const second = await talk.expect(200)
      expect(second.text).toBe(first.text)
      talk.request("ACK")
      await rest(1_100)
      expect(talk.peer.unclaimed(200)).toEqual([])
      await talk.bye()
    })
  )

  it(
    "a BYE sent again is answered again",
    withServer(async (server) => {
      const { rtp, talk } = await server.caller()
      await talk.connect(said(rtp))
      const bye = talk.request("BYE")
      await talk.expect(200, "BYE")
      talk.peer.send(bye)
      await talk.expect(200, "BYE")
    })
  )
})

describe("a far side that falls silent", () => {
  it(
    "never says BYE: without media for 20 s the call is lost",
    withServer(async (server) => {
      const { rtp, talk } = await server.caller()
      const ok = await talk.connect(said(rtp))
      rtp.send(rtpPortIn(ok.body))
      await until(() => server.taken.length === 1 && rtp.packets > 2, "no sound")
      server.pass(21_000)
      talk.answer(await talk.heard("BYE"), 200)
      expect(server.taken[0]?.closed).toEqual(["lost"])
    })
  )

  it(
    "on hold is not lost",
    withServer(async (server) => {
      const { rtp, talk } = await server.caller()
      await talk.connect(said(rtp, "sendonly"))
      await until(() => server.taken.length === 1, "no leg")
      talk.request("INVITE", said(rtp, "inactive"))
      expect((await talk.expect(200)).body).toContain("a=inactive")
      talk.request("ACK")
      server.pass(21_000)
      await rest(100)
      expect(server.taken[0]?.closed).toEqual([])
      await talk.bye()
    })
  )
})

const refusals: ReadonlyArray<readonly [404 | 480 | 486 | 488 | 500 | 503, string]> = [
  [404, ""],
  [480, ""],
  [486, ""],
  [500, ""],
  [503, "10"]
]

describe("a call that nobody takes", () => {
  it.each(refusals)("is refused with %i", (status, retryAfter) =>
    withServer(
      async (server) => {
        const { rtp, talk } = await server.caller()
        talk.request("INVITE", said(rtp))
        const refused = await talk.expect(status)
        expect(refused.header("retry-after")).toBe(retryAfter)
        talk.request("ACK", { branch: talk.inviteBranch })
        await until(() => server.sipTraces.has(talk.callId), "no sipTrace")
      },
      {},
      (call) => call.refuse(status)
    )()
  )

  it(
    "is refused again until it is acknowledged",
    withServer(
      async (server) => {
        const { rtp, talk } = await server.caller()
        talk.request("INVITE", said(rtp))
        await talk.expect(486)
        await talk.expect(486)
        talk.request("ACK", { branch: talk.inviteBranch })
        await rest(1_200)
        expect(talk.peer.unclaimed(486)).toEqual([])
      },
      {},
      (call) => call.refuse(486)
    )
  )
})

describe("a server that closes", () => {
  it(
    "says BYE, tells the leg, and takes no more calls",
    withServer(
      async (server) => {
        const { rtp, talk } = await server.caller()
        await talk.connect(said(rtp))
        await until(() => server.taken.length === 1, "no leg")
        const closing = server.sip.close()
        talk.answer(await talk.heard("BYE"), 200)
        const late = await server.caller()
        late.talk.request("INVITE", said(late.rtp))
        await late.talk.expect(503)
        await closing
        expect(server.taken[0]?.closed).toEqual(["failed"])
      },
      { timings: { goodbyeMs: 400 } }
    )
  )
})
