// Where a trunk is, as far as no name server is needed.
import { describe, expect, it } from "vitest"
import { hostAndPort, locate } from "../../src/sip/locate.ts"

describe("a trunk's address", () => {
  it.each([
    ["sip.example.com", ["sip.example.com", undefined]],
    ["sip.example.com:5070", ["sip.example.com", 5070]],
    ["192.0.2.1", ["192.0.2.1", undefined]],
    ["192.0.2.1:5061", ["192.0.2.1", 5061]],
    ["[2001:db8::1]", ["2001:db8::1", undefined]],
    ["[2001:db8::1]:5062", ["2001:db8::1", 5062]],
    ["2001:db8::1", ["2001:db8::1", undefined]]
  ])("%s", (uri, expected) => {
    expect(hostAndPort(uri)).toEqual(expected)
  })

  it.each([
    ["192.0.2.1", "auto", { transport: "udp", address: "192.0.2.1", port: 5060, host: "192.0.2.1" }],
    ["192.0.2.1", "tls", { transport: "tls", address: "192.0.2.1", port: 5061, host: "192.0.2.1" }],
    ["192.0.2.1:9", "tcp", { transport: "tcp", address: "192.0.2.1", port: 9, host: "192.0.2.1" }],
    ["[2001:db8::1]", "udp", { transport: "udp", address: "2001:db8::1", port: 5060, host: "2001:db8::1" }]
  ] as const)("%s over %s needs no look-up", async (uri, transport, place) => {
    expect(await locate({ uri, transport, credentials: undefined })).toEqual([place])
  })
})
