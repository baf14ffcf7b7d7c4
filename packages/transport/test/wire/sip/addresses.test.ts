// Where a far side may make us send to: by its trunk's place, by Contact and Record-Route at every step of a call, and by
// its session descriptions. Loopback stands for what may be reached, 127.9.0.0/16 for what may not.
import { setTimeout as rest } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { type Heard, rtpPortIn, sdp, SipPeer, Talk } from "./SipPeer.ts"
import { until, withServer } from "./SipTestServer.ts"

const forbidden = "127.9.0.1"
const mayReach = (address: string): boolean => address.startsWith("127.") && !address.startsWith("127.9.")
const options = { mayReach } as const

/** Somebody at the forbidden address, who must not hear a word. */
const victim = async () => {
  const peer = await SipPeer.open("udp", 0, forbidden)
  return { peer, uri: `<sip:victim@${forbidden}:${peer.port};lr>` }
}

/** Calls in with these headers; the far side is where it came from whatever they say. */
const calls = (headersOf: (uri: string) => { contact?: string; headers?: ReadonlyArray<string> }) =>
  withServer(async (server) => {
    const { peer: hidden, uri } = await victim()
    const { rtp, talk } = await server.caller()
    const { contact, headers } = headersOf(uri)
    if (contact !== undefined) talk.contact = contact
    await talk.connect({ body: sdp(rtp.port), headers })
    await until(() => server.taken.length === 1, "no leg")
    server.taken[0]?.leg?.close("agent_hangup")
    talk.answer(await talk.heard("BYE"), 200)
    expect(hidden.log).toEqual([])
    hidden.close()
  }, options)

describe("a call that came in", () => {
  it(
    "is hung up where it came from, whatever its Contact says",
    calls((contact) => ({ contact }))
  )
  it(
    "and whatever its Record-Route says",
    calls((uri) => ({ headers: [`Record-Route: ${uri}`] }))
  )

  it(
    "is not moved elsewhere by the Contact of a re-INVITE",
    withServer(async (server) => {
      const { peer: hidden, uri } = await victim()
      const { rtp, talk } = await server.caller()
      await talk.connect({ body: sdp(rtp.port) })
      talk.contact = uri
      talk.request("INVITE", { body: sdp(rtp.port, "sendrecv", 0, 2) })
      await talk.expect(200)
      talk.request("ACK")
      server.taken[0]?.leg?.close("agent_hangup")
      talk.answer(await talk.heard("BYE"), 200)
      expect(hidden.log).toEqual([])
      hidden.close()
    }, options)
  )
})

describe("a call that was placed", () => {
  it.each(["Contact", "Record-Route"])(
    "acknowledges and hangs up where it was answered, whatever the %s says",
    (name) =>
      withServer(async (server) => {
        const { peer: hidden, uri } = await victim()
        const peer = await server.listener()
        const { port } = await server.rtp()
        const dialling = server.dial(peer)
        const invite = await peer.next("INVITE")
        const talk = Talk.calledBy(peer, invite)
        if (name === "Contact") talk.contact = uri
        const headers = name === "Contact" ? [] : [`Record-Route: ${uri}`]
        talk.answer(invite, 183, { body: sdp(port), headers: [...headers, "Require: 100rel", "RSeq: 7"] })
        talk.answer(await talk.heard("PRACK"), 200)
        talk.answer(invite, 200, { body: sdp(port), headers })
        await talk.heard("ACK")
        const outcome = await dialling.outcome
        if (outcome.status === "answered") outcome.leg.close("agent_hangup")
        talk.answer(await talk.heard("BYE"), 200)
        expect(hidden.log).toEqual([])
        hidden.close()
      }, options)()
  )

  it.each(["udp", "tcp"] as const)("goes nowhere when its trunk is there, over %s", (transport) =>
    withServer(async (server) => {
      const { peer: hidden } = await victim()
      const trunk = { uri: `${forbidden}:${hidden.port}`, transport, credentials: undefined }
      const request = { trunk, from: "+15550100", to: "+15550177", headers: {}, ringSeconds: 1 }
      const outcome = await server.sip.dial(request).outcome
      expect(outcome).toMatchObject({ status: "failed", sipStatus: null })
      expect(server.sipTraces.get(outcome.callId)?.map(({ what }) => what)).toEqual(["trunk address"])
      expect(await server.sip.check(trunk)).toMatchObject({ sipStatus: null })
      expect(hidden.log).toEqual([])
      hidden.close()
    }, options)()
  )

  it(
    "does not go on to where a redirection points",
    withServer(async (server) => {
      const { peer: hidden, uri } = await victim()
      const peer = await server.listener()
      const dialling = server.dial(peer)
      const invite: Heard = await peer.next("INVITE")
      Talk.calledBy(peer, invite).answer(invite, 302, { headers: [`Contact: ${uri}`] })
      expect(await dialling.outcome).toMatchObject({ status: "failed", sipStatus: 302 })
      expect(hidden.log).toEqual([])
      hidden.close()
    }, options)
  )
})

describe("sound", () => {
  it.each([forbidden, "255.255.255.255", "224.0.0.251", "169.254.169.254", "0.0.0.0", "2130706433"])(
    "is not moved to %s by a re-INVITE, and comes back",
    (address) =>
      withServer(async (server) => {
        const hidden = await server.rtp(forbidden)
        const { rtp, talk } = await server.caller()
        await talk.connect({ body: sdp(rtp.port) })
        await until(() => rtp.packets > 3, "no sound")
        talk.request("INVITE", { body: sdp(hidden.port, "sendrecv", 0, 2, address) })
        await talk.expect(200)
        talk.request("ACK")
        await rest(60)
        const before = rtp.packets
        await rest(200)
        expect([hidden.packets, rtp.packets - before]).toEqual([0, 0])
        talk.request("INVITE", { body: sdp(rtp.port, "sendrecv", 0, 3) })
        await talk.expect(200)
        talk.request("ACK")
        await until(() => rtp.packets > before + 3, "no sound")
        await talk.bye()
      }, options)()
  )

  it(
    "of a caller behind NAT, who described an address nobody can reach, crosses both ways",
    withServer(async (server) => {
      const { rtp, talk } = await server.caller()
      const ok = await talk.connect({ body: sdp(4_000, "sendrecv", 0, 1, forbidden) })
      await until(() => server.taken.length === 1, "no leg")
      await until(() => (rtp.send(rtpPortIn(ok.body)), rtp.packets > 3), "no sound")
      await until(() => (server.taken[0]?.frames ?? 0) > 3, "not heard")
      await talk.bye()
    }, options)
  )

  it(
    "is not moved by a stranger's packets, nor do they press keys, though they come first",
    withServer(async (server) => {
      const { rtp, talk } = await server.caller()
      const ok = await talk.connect({ body: sdp(rtp.port) })
      await until(() => server.taken.length === 1, "no leg")
      const to = rtpPortIn(ok.body)
      const stranger = await server.rtp("127.0.0.9")
      for (let i = 0; i < 60; i++) {
        if (i >= 20 && i % 4 === 0) rtp.send(to)
        stranger.send(to, i % 2 === 0 ? 0 : 101, Buffer.from([5, 0x80, 3, 0x20]))
        await rest(10)
      }
      const { packets } = rtp
      await until(() => rtp.packets > packets + 3, "the sound went away")
      expect([stranger.packets, server.taken[0]?.digits]).toEqual([0, []])
      await talk.bye()
    }, options)
  )
})
