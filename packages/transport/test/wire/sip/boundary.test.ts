// A timer of sip.js that throws ends the call it belongs to: the process lives, and so do the other calls.
import { InviteClientTransaction, InviteServerTransaction } from "sip.js/lib/core/index.js"
import { describe, expect, it, vi } from "vitest"
import { sdp } from "./SipPeer.ts"
import { until, withServer } from "./SipTestServer.ts"

const withFaults = (act: Parameters<typeof withServer>[0]) => {
  const faults: Array<unknown> = []
  return async () => {
    await withServer(act, { handlers: { onFault: (error) => faults.push(error) }, timings: { deadMs: 4_000 } })()
    expect(faults).toEqual([expect.objectContaining({ message: "broken" })])
  }
}

const broken = (): never => {
  throw new Error("broken")
}

describe("a timer of sip.js that throws", () => {
  it(
    "ends a call that came in, and no other",
    withFaults(async (server) => {
      const other = await server.caller()
      await other.talk.connect({ body: sdp(other.rtp.port) })
      const { rtp, talk } = await server.caller("tcp")
      // The 200 is said again after 500 ms without an ACK.
      const spy = vi.spyOn(InviteServerTransaction.prototype, "retransmitAcceptedResponse").mockImplementation(broken)
      talk.request("INVITE", { body: sdp(rtp.port) })
      await talk.expect(200)
      await until(() => spy.mock.calls.length > 0, "nothing was said again")
      spy.mockRestore()
      await until(() => server.sip.count() === 1, "the call did not end")
      expect(server.taken.map(({ closed }) => closed)).toContainEqual(["failed"])
      await other.talk.bye()
    })
  )

  it(
    "ends a call that was placed",
    withFaults(async (server) => {
      const peer = await server.listener("tcp")
      const spy = vi.spyOn(InviteClientTransaction.prototype, "receiveResponse").mockImplementation(() => {
        setTimeout(broken, 10)
      })
      const dialling = server.dial(peer)
      const invite = await peer.next("INVITE")
      invite.back(invite.text.replace(/^INVITE.*/, "SIP/2.0 100 Trying"))
      expect(await dialling.outcome).toMatchObject({ status: "failed", sipStatus: null })
      spy.mockRestore()
      expect(server.sip.count()).toBe(0)
    })
  )
})
