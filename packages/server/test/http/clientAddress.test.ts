import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { clientAddress, CurrentConnection } from "../../src/http/clientAddress.ts"
import { Settings } from "../../src/Settings.ts"
import { testConfig } from "../../src/testing/testConfig.ts"

const settings = testConfig("unused", { PARLEY_TRUSTED_PROXIES: "10.0.0.0/8, fd00::/8" })

describe("clientAddress", () => {
  it.each([
    ["the peer", "203.0.113.7", undefined, "203.0.113.7"],
    ["a header of a peer that is no proxy", "203.0.113.7", "198.51.100.1", "203.0.113.7"],
    ["what the proxy says", "10.1.2.3", "198.51.100.1", "198.51.100.1"],
    ["the last entry that no proxy wrote", "10.1.2.3", "1.1.1.1, 198.51.100.1, 10.9.9.9", "198.51.100.1"],
    ["the proxy, where the entry is no address", "10.1.2.3", "unknown", "10.1.2.3"],
    ["the outermost proxy, where there are only proxies", "10.1.2.3", "10.5.5.5", "10.5.5.5"],
    ["IPv4 in IPv6", "::ffff:203.0.113.7", undefined, "203.0.113.7"],
    ["a proxy as IPv4 in IPv6", "::ffff:10.1.2.3", "198.51.100.1", "198.51.100.1"],
    ["the /64 of IPv6", "2001:db8:1:2:3:4:5:6", undefined, "2001:db8:1:2::/64"],
    ["the /64 behind a proxy", "fd00::1", "2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"],
    ["what is no address", "pipe", "198.51.100.1", "pipe"],
    ["nothing", undefined, "198.51.100.1", ""]
  ])("is %s", (_, remote, forwardedFor, client) => {
    const found = clientAddress.pipe(
      Effect.provideService(CurrentConnection, { remote, forwardedFor }),
      Effect.provideService(Settings, settings)
    )
    assert.strictEqual(Effect.runSync(found), client)
  })
})
