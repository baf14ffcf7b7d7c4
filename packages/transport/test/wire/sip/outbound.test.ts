// Calls that the server places, against a far side that answers as each test says.
import { setTimeout as rest } from "node:timers/promises"
import { createHash } from "node:crypto"
import { createSocket } from "node:dgram"
import { Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { withServer, until, user, type SipTestServer } from "./SipTestServer.ts"
import { reply, rtpPortIn, sdp, type Heard, Talk } from "./SipPeer.ts"

const credentials = { username: user.username, password: Redacted.make(user.password) }

const called = async (
  server: SipTestServer,
  more: Parameters<SipTestServer["dial"]>[1] = {},
  way: "udp" | "tcp" = "udp"
) => {
  const peer = await server.listener(way)
  const rtp = await server.rtp()
  const dialling = server.dial(peer, more)
  const invite = await peer.next("INVITE")
  const talk = Talk.calledBy(peer, invite)
  return { peer, rtp, dialling, invite, talk }
}

describe.each(["udp", "tcp"] as const)("a call that is placed over %s", (way) => {
  it(
    "rings, is answered, carries sound, and ends with their BYE",
    withServer(async (server) => {
      const { dialling, invite, rtp, talk } = await called(server, { headers: { "X-Vendor-Session-Id": "s1" } }, way)
      expect(invite.text.split("\r\n")[0]).toBe(`INVITE sip:+15550177@127.0.0.1:${talk.peer.port} SIP/2.0`)
      expect(invite.header("from")).toContain("sip:+15550100@127.0.0.1")
      expect(invite.header("x-vendor-session-id")).toBe("s1")
      expect(invite.header("max-forwards")).toBe("70")
      talk.answer(invite, 100)
      talk.answer(invite, 180)
      talk.answer(invite, 200, { body: sdp(rtp.port) })
      await talk.heard("ACK")
      const outcome = await dialling.outcome
      if (outcome.status !== "answered") throw new Error(outcome.status)
      const taken = server.adopt(outcome.leg)
      await until(() => rtp.packets > 3, "no sound")
      rtp.send(rtpPortIn(invite.body))
      await until(() => taken.frames > 3, "nothing is heard")
      await talk.bye()
      expect(taken.closed).toEqual(["left"])
      expect(outcome.callId).toBe(invite.callId)
    })
  )

  it(
    "ends with our BYE",
    withServer(async (server) => {
      const { dialling, invite, rtp, talk } = await called(server, {}, way)
      talk.answer(invite, 200, { body: sdp(rtp.port) })
      const outcome = await dialling.outcome
      if (outcome.status === "answered") outcome.leg.close("agent_hangup")
      talk.answer(await talk.heard("BYE"), 200)
    })
  )
})

describe("how a dial comes out", () => {
  it.each([
    [486, "busy"],
    [600, "busy"],
    [408, "no_answer"],
    [480, "no_answer"],
    [487, "no_answer"],
    [403, "failed"],
    [404, "failed"],
    [500, "failed"],
    [301, "failed"],
    [302, "failed"],
    [488, "failed"],
    [503, "failed"],
    [603, "failed"]
  ] as const)("%i is %s", (status, outcome) =>
    withServer(async (server) => {
      const { dialling, invite, talk } = await called(server)
      talk.answer(invite, 180)
      talk.answer(invite, status, { headers: ["Contact: <sip:else@127.0.0.1:9>"] })
      expect(await dialling.outcome).toMatchObject({ status: outcome, sipStatus: status })
      await talk.heard("ACK")
      await until(() => server.sipTraces.has(invite.callId), "no sipTrace")
    })()
  )

  it(
    "ringing for too long is no answer: CANCEL, 487",
    withServer(async (server) => {
      const { dialling, invite, talk } = await called(server, { ringSeconds: 0.3 })
      talk.answer(invite, 180)
      const cancel = await talk.heard("CANCEL")
      talk.answer(cancel, 200)
      talk.answer(invite, 487)
      expect(await dialling.outcome).toMatchObject({ status: "no_answer", sipStatus: 487 })
      await talk.heard("ACK")
    })
  )

  it(
    "ringing for too long at a far side that knows no CANCEL is no answer all the same",
    withServer(
      async (server) => {
        const { dialling, invite, talk } = await called(server, { ringSeconds: 0.2 })
        talk.answer(invite, 183)
        await talk.heard("CANCEL")
        expect(await dialling.outcome).toMatchObject({ status: "no_answer" })
      },
      { timings: { cancelMs: 300 } }
    )
  )

  it(
    "an answer that crosses our CANCEL is ended at once",
    withServer(async (server) => {
      const { dialling, invite, rtp, talk } = await called(server, { ringSeconds: 0.2 })
      talk.answer(invite, 180)
      await talk.heard("CANCEL")
      talk.answer(invite, 200, { body: sdp(rtp.port) })
      await talk.heard("ACK")
      talk.answer(await talk.heard("BYE"), 200)
      expect(await dialling.outcome).toMatchObject({ status: "no_answer" })
    })
  )

  it(
    "a dial that is given up before anybody answered",
    withServer(async (server) => {
      const { dialling, invite, talk } = await called(server)
      talk.answer(invite, 180)
      await until(() => server.sip.count() === 1, "no call")
      dialling.cancel()
      talk.answer(await talk.heard("CANCEL"), 200)
      talk.answer(invite, 487)
      expect(await dialling.outcome).toMatchObject({ status: "no_answer" })
      await talk.heard("ACK")
    })
  )

  it(
    "a dead host fails in time, though the INVITE was said again",
    withServer(
      async (server) => {
        const { dialling, peer } = await called(server)
        expect(await dialling.outcome).toMatchObject({ status: "failed", sipStatus: null })
        expect(peer.unclaimed("INVITE").length).toBeGreaterThan(0)
      },
      { timings: { deadMs: 700 } }
    )
  )

  it(
    "a port that nobody listens on fails at once over TCP",
    withServer(async (server) => {
      const gone = await server.listener("tcp")
      gone.close()
      expect(await server.dial(gone).outcome).toMatchObject({ status: "failed", sipStatus: null })
    })
  )

  it(
    "a name that does not exist fails",
    withServer(async (server) => {
      const peer = await server.listener()
      const trunk = { uri: "no-such-host.invalid:5060", transport: "udp", credentials: undefined } as const
      expect(await server.dial(peer, { trunk }).outcome).toMatchObject({ status: "failed", sipStatus: null })
    })
  )

  it(
    "an answer without a codec of ours is ended",
    withServer(async (server) => {
      const { dialling, invite, talk } = await called(server)
      talk.answer(invite, 200, { body: "v=0\r\nc=IN IP4 127.0.0.1\r\nm=audio 9 RTP/AVP 3\r\n" })
      await talk.heard("ACK")
      talk.answer(await talk.heard("BYE"), 200)
      expect(await dialling.outcome).toMatchObject({ status: "failed", sipStatus: 488 })
    })
  )

  it(
    "a far side that hangs up while it answers",
    withServer(async (server) => {
      const { dialling, invite, rtp, talk } = await called(server)
      talk.answer(invite, 200, { body: sdp(rtp.port, "sendrecv", 111) })
      await talk.heard("ACK")
      talk.request("BYE")
      await talk.expect(200, "BYE")
      const outcome = await dialling.outcome
      if (outcome.status !== "answered") throw new Error(outcome.status)
      const taken = server.adopt(outcome.leg)
      await until(() => taken.closed.length === 1, "nobody was told")
      expect(taken.closed).toEqual(["left"])
    })
  )
})

describe("early answers", () => {
  it(
    "early media of a 183 count when the 200 says nothing new",
    withServer(async (server) => {
      const { dialling, invite, rtp, talk } = await called(server)
      talk.answer(invite, 183, { body: sdp(rtp.port) })
      talk.answer(invite, 200)
      await talk.heard("ACK")
      const outcome = await dialling.outcome
      if (outcome.status !== "answered") throw new Error(outcome.status)
      server.adopt(outcome.leg)
      await until(() => rtp.packets > 3, "no sound")
      await talk.bye()
    })
  )

  it(
    "a reliable 183 is acknowledged",
    withServer(async (server) => {
      const { dialling, invite, rtp, talk } = await called(server)
      talk.answer(invite, 183, { body: sdp(rtp.port), headers: ["Require: 100rel", "RSeq: 7"] })
      const prack = await talk.heard("PRACK")
      expect(prack.header("rack")).toBe(`7 ${invite.cseq} INVITE`)
      talk.answer(prack, 200)
      talk.answer(invite, 200, { body: sdp(rtp.port) })
      await talk.heard("ACK")
      expect((await dialling.outcome).status).toBe("answered")
      await talk.bye()
    })
  )

  it(
    "a forked call rings at two places; the second answer is ended",
    withServer(async (server) => {
      const { dialling, invite, peer, rtp, talk } = await called(server)
      const second = Talk.calledBy(peer, invite)
      talk.answer(invite, 180)
      second.answer(invite, 180)
      second.answer(invite, 183, { body: sdp(rtp.port) })
      talk.answer(invite, 200, { body: sdp(rtp.port) })
      second.answer(invite, 200, { body: sdp(rtp.port) })
      const bye = await talk.heard("BYE")
      expect(bye.header("to")).toContain(second.ourTag)
      second.answer(bye, 200)
      expect((await dialling.outcome).status).toBe("answered")
      await talk.bye()
    })
  )

  it(
    "a 200 that is said again is acknowledged again",
    withServer(async (server) => {
      const { dialling, invite, rtp, talk } = await called(server)
      talk.answer(invite, 200, { body: sdp(rtp.port) })
      await talk.heard("ACK")
      talk.answer(invite, 200, { body: sdp(rtp.port) })
      await talk.heard("ACK")
      expect((await dialling.outcome).status).toBe("answered")
      await talk.bye()
    })
  )

  it(
    "an INVITE that is lost is said again",
    withServer(async (server) => {
      const { dialling, invite, peer, rtp, talk } = await called(server)
      const again = await peer.next("INVITE")
      expect(again.text).toBe(invite.text)
      talk.answer(again, 200, { body: sdp(rtp.port) })
      await talk.heard("ACK")
      expect((await dialling.outcome).status).toBe("answered")
      await talk.bye()
    })
  )
})

const hash = (algorithm: string, text: string) =>
  createHash(algorithm === "MD5" ? "md5" : "sha256")
    .update(text)
    .digest("hex")

const isRight = (invite: Heard, header: string, algorithm: string, password = user.password): boolean => {
  const field = (name: string) => new RegExp(`${name}="?([^",]+)`).exec(invite.header(header))?.[1] ?? ""
  const secret = hash(algorithm, `${user.username}:there:${password}`)
  const what = hash(algorithm, `INVITE:${field("uri")}`)
  const qop = field("qop")
  const middle = qop === "" ? field("nonce") : `${field("nonce")}:${field("nc")}:${field("cnonce")}:${qop}`
  return field("response") === hash(algorithm, `${secret}:${middle}:${what}`)
}

const challengeOf = (nonce: string) => `WWW-Authenticate: Digest realm="there", nonce="${nonce}", qop="auth"`

describe("a challenge", () => {
  it.each([
    [401, "www-authenticate", "authorization", "MD5", ', qop="auth"'],
    [401, "www-authenticate", "authorization", "SHA-256", ', qop="auth"'],
    [401, "www-authenticate", "authorization", "MD5", ""],
    [407, "proxy-authenticate", "proxy-authorization", "MD5", ', qop="auth,auth-int"'],
    [407, "proxy-authenticate", "proxy-authorization", "SHA-256", ', qop="auth"']
  ])("%i %s is answered (%s, %s%s)", (status, challenge, header, algorithm, qop) =>
    withServer(async (server) => {
      const peer = await server.listener()
      const rtp = await server.rtp()
      const trunk = { uri: `127.0.0.1:${peer.port}`, transport: "udp", credentials } as const
      const dialling = server.dial(peer, { trunk })
      const first = await peer.next("INVITE")
      const line = `${challenge}: Digest realm="there", nonce="n1", algorithm=${algorithm}, opaque="o"${qop}`
      first.back(reply(first, status, { headers: [line] }))
      await peer.next("ACK")
      const second = await peer.next("INVITE")
      expect(second.cseq).toBe(first.cseq + 1)
      expect(second.header(header)).toContain('opaque="o"')
      expect(isRight(second, header, algorithm)).toBe(true)
      const talk = Talk.calledBy(peer, second)
      talk.answer(second, 200, { body: sdp(rtp.port) })
      await talk.heard("ACK")
      expect((await dialling.outcome).status).toBe("answered")
      await talk.bye()
    })()
  )

  it.each([401, 403])("whose answer is refused with %i is not answered again", (status) =>
    withServer(async (server) => {
      const peer = await server.listener()
      const trunk = { uri: `127.0.0.1:${peer.port}`, transport: "udp", credentials } as const
      const dialling = server.dial(peer, { trunk })
      const first = await peer.next("INVITE")
      first.back(reply(first, 401, { headers: [challengeOf("n1")] }))
      const second = await peer.next((heard) => heard.method === "INVITE" && heard.cseq > first.cseq)
      second.back(reply(second, status, { headers: status === 401 ? [challengeOf("n2")] : [] }))
      expect(await dialling.outcome).toMatchObject({ status: "failed", sipStatus: status })
      await rest(100)
      expect(peer.unclaimed("INVITE").filter((heard) => heard.cseq > second.cseq)).toEqual([])
    })()
  )

  it(
    "without credentials is a failure",
    withServer(async (server) => {
      const { dialling, invite } = await called(server)
      invite.back(reply(invite, 401, { headers: ['WWW-Authenticate: Digest realm="x", nonce="n"'] }))
      expect(await dialling.outcome).toMatchObject({ status: "failed", sipStatus: 401 })
    })
  )

  it(
    "of a kind we do not speak is a failure",
    withServer(async (server) => {
      const peer = await server.listener()
      const trunk = { uri: `127.0.0.1:${peer.port}`, transport: "udp", credentials } as const
      const dialling = server.dial(peer, { trunk })
      const invite = await peer.next("INVITE")
      const line = 'WWW-Authenticate: Digest realm="x", nonce="n", algorithm=SHA-512-256, qop="auth"'
      invite.back(reply(invite, 401, { headers: [line] }))
      expect(await dialling.outcome).toMatchObject({ status: "failed", sipStatus: 401 })
    })
  )
})

describe("a trunk", () => {
  it(
    "with a target elsewhere is still where the INVITE, its CANCEL and its ACK go",
    withServer(async (server) => {
      const elsewhere = await server.listener()
      const { dialling, invite, talk } = await called(server, { to: `sip:bob@127.0.0.1:${elsewhere.port}` })
      expect(invite.text).toMatch(new RegExp(`^INVITE sip:bob@127\\.0\\.0\\.1:${elsewhere.port} `))
      talk.answer(invite, 180)
      await until(() => server.sip.count() === 1, "no call")
      dialling.cancel()
      talk.answer(await talk.heard("CANCEL"), 200)
      talk.answer(invite, 487)
      await talk.heard("ACK")
      expect((await dialling.outcome).status).toBe("no_answer")
      expect(elsewhere.log).toEqual([])
    })
  )

  it(
    "is asked whether it is there",
    withServer(async (server) => {
      const peer = await server.listener()
      const asked = server.sip.check({ uri: `127.0.0.1:${peer.port}`, transport: "udp", credentials: undefined })
      const options = await peer.next("OPTIONS")
      options.back(reply(options, 200))
      expect((await asked).sipStatus).toBe(200)
    })
  )

  it(
    "that is silent is not there",
    withServer(
      async (server) => {
        const peer = await server.listener()
        const asked = await server.sip.check({
          uri: `127.0.0.1:${peer.port}`,
          transport: "udp",
          credentials: undefined
        })
        expect(asked.sipStatus).toBeNull()
      },
      { timings: { checkMs: 200 } }
    )
  )

  it(
    "is called from any port when the server's own is closed",
    withServer(
      async (server) => {
        expect(server.sip.ports).toEqual({})
        const { dialling, invite, rtp, talk } = await called(server)
        talk.answer(invite, 200, { body: sdp(rtp.port) })
        await talk.heard("ACK")
        expect((await dialling.outcome).status).toBe("answered")
        await talk.bye()
      },
      { network: { port: undefined } }
    )
  )

  it(
    "whose connection breaks before an answer fails in time",
    withServer(
      async (server) => {
        const { dialling, peer } = await called(server, {}, "tcp")
        peer.close()
        expect(await dialling.outcome).toMatchObject({ status: "failed" })
      },
      { timings: { deadMs: 500 } }
    )
  )
})

describe("a number with two places", () => {
  it(
    "is called at the second when the first says 503",
    withServer(async (server) => {
      const [first, second] = [await server.listener(), await server.listener()]
      const rtp = await server.rtp()
      const dialling = server.dialAt([first, second])
      const refused = await first.next("INVITE")
      refused.back(reply(refused, 503))
      const invite = await second.next("INVITE")
      const talk = Talk.calledBy(second, invite)
      talk.answer(invite, 200, { body: sdp(rtp.port) })
      await talk.heard("ACK")
      expect(await dialling.outcome).toMatchObject({ status: "answered", callId: invite.callId })
      await talk.bye()
    })
  )

  it(
    "is called at the second when nobody is at the first",
    withServer(
      async (server) => {
        const [first, second] = [await server.listener(), await server.listener()]
        const dialling = server.dialAt([first, second])
        const invite = await second.next("INVITE")
        invite.back(reply(invite, 486))
        expect(await dialling.outcome).toMatchObject({ status: "busy" })
      },
      { timings: { deadMs: 400 } }
    )
  )

  it(
    "is not called at the second when the first is busy",
    withServer(async (server) => {
      const [first, second] = [await server.listener(), await server.listener()]
      const dialling = server.dialAt([first, second])
      const invite = await first.next("INVITE")
      invite.back(reply(invite, 486))
      expect(await dialling.outcome).toMatchObject({ status: "busy" })
      await rest(50)
      expect(second.log).toEqual([])
    })
  )
})

describe("a port that no packet leaves", () => {
  it("is counted among the sockets that must be closed", async () => {
    const before = process.getActiveResourcesInfo().filter((name) => /UDP/.test(name)).length
    const socket = createSocket("udp4")
    await new Promise<void>((done) => socket.bind(0, "127.0.0.1", done))
    expect(process.getActiveResourcesInfo().filter((name) => /UDP/.test(name)).length).toBe(before + 1)
    socket.close()
  })
})
