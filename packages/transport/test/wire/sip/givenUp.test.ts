// A caller who gives up while it rings: both sides know, once, with and without a password in between.
import { Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { makeSipServer } from "../../../src/sip/SipServer.ts"

const here = { host: "127.0.0.1", port: 0, tls: undefined, publicAddress: undefined, rtpPorts: undefined }
const credentials = { username: "trunk", password: Redacted.make("a password") }

describe("a call that is given up while it rings", () => {
  it.each([
    ["without a password", undefined],
    ["after a password was asked for", credentials]
  ])("is told to the one who was called, once, %s", async (_, digest) => {
    let cancelled = 0
    const rings = Promise.withResolvers<void>()
    const told = Promise.withResolvers<void>()
    const trace = Promise.withResolvers<ReadonlyArray<string>>()
    const far = await makeSipServer({
      network: here,
      userAgent: "far",
      mayReach: () => true,
      handlers: {
        trunksOf: () => Promise.resolve([{ id: "trunk", allowedAddresses: ["127.0.0.1"], digest }]),
        onCall: (call) => {
          call.onCancelled(() => {
            cancelled++
            told.resolve()
          })
          call.ring()
          rings.resolve()
        }
      }
    })
    const near = await makeSipServer({
      network: here,
      userAgent: "near",
      mayReach: () => true,
      handlers: {
        trunksOf: () => Promise.resolve([]),
        onCall: (call) => call.refuse(404),
        onTrace: (_callId, lines) => trace.resolve(lines.map(({ what }) => what))
      }
    })
    try {
      const trunk = { uri: `127.0.0.1:${far.ports.udp}`, transport: "udp", credentials: digest } as const
      const to = "+14155550101"
      const dialling = near.dial({ trunk, from: "+14155550100", to, headers: {}, ringSeconds: 30 })
      await rings.promise
      dialling.cancel()
      expect(await dialling.outcome).toMatchObject({ status: "no_answer", sipStatus: 487 })
      await told.promise
      expect(cancelled).toBe(1)
      expect(await trace.promise).toEqual(expect.arrayContaining(["INVITE", "CANCEL", "487 Request Terminated"]))
    } finally {
      await Promise.all([near.close(), far.close()])
    }
  })
})
