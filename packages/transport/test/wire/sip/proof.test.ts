// Who is let in by an address alone has to show that it is theirs before a sound is sent there: anybody can write
// another's address into a datagram.
import { setTimeout as rest } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { type Said, rtpPortIn, sdp } from "./SipPeer.ts"
import { until, type SipTestServer, withServer } from "./SipTestServer.ts"

const invited = async (server: SipTestServer, way: "udp" | "tcp" = "udp", said: Said = {}) => {
  const { rtp, talk } = await server.caller(way)
  talk.request("INVITE", { body: sdp(rtp.port), ...said })
  return { rtp, talk, ok: await talk.expect(200) }
}

const over = async (server: SipTestServer, bye: () => Promise<void>): Promise<void> => {
  await bye()
  await until(() => server.sip.count() === 0, "the call is still there")
}

describe("a caller known by an address alone, over UDP", () => {
  it(
    "gets no packet before the ACK, and sound after it",
    withServer(async (server) => {
      const { rtp, talk } = await invited(server)
      await rest(300)
      expect([rtp.packets, server.taken.length]).toEqual([0, 0])
      talk.request("ACK")
      await until(() => rtp.packets > 3, "no sound")
      await over(server, () => talk.bye())
    })
  )

  it(
    "whose ACK is lost gets sound once its own is heard",
    withServer(async (server) => {
      const { ok, rtp, talk } = await invited(server)
      rtp.send(rtpPortIn(ok.body))
      await until(() => rtp.packets > 3, "no sound")
      talk.request("ACK")
      await over(server, () => talk.bye())
    })
  )

  it(
    "gets none for a stranger's ACK or packets",
    withServer(async (server) => {
      const { ok, rtp, talk } = await invited(server)
      const stranger = await server.rtp("127.0.0.9")
      for (let i = 0; i < 20; i++) stranger.send(rtpPortIn(ok.body))
      talk.peer.send(talk.request("ACK", { kept: true }).replace(/;tag=[^;\r\n]+(?=\r\nCall-ID)/, ";tag=guessed"))
      await rest(300)
      expect([rtp.packets, stranger.packets, server.taken.length]).toEqual([0, 0, 0])
      await over(server, () => talk.bye())
    })
  )

  it(
    "who leaves before it is over without a leg",
    withServer(async (server) => {
      const { talk } = await invited(server)
      await over(server, () => talk.bye())
      expect(server.taken.map(({ leg }) => leg)).toEqual([undefined])
    })
  )
})

describe("a caller who has shown where they are", () => {
  it(
    "by a connection hears us before the ACK",
    withServer(async (server) => {
      const { rtp, talk } = await invited(server, "tcp")
      await until(() => rtp.packets > 3, "no sound")
      await over(server, () => talk.bye())
    })
  )
})
