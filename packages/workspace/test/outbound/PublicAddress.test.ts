import { assert, describe, it } from "@effect/vitest"
import { allowsAddress, readAllowed } from "../../src/outbound/AllowedPrivate.ts"
import { parseAddress, parseBlock } from "../../src/outbound/IpAddress.ts"
import { kindOf } from "../../src/outbound/PublicAddress.ts"

describe("parseAddress", () => {
  it.each([
    ["0.0.0.0", 0n],
    ["255.255.255.255", 0xffff_ffffn],
    ["::", 0n],
    ["::1", 1n],
    ["[2001:db8::1]", 0x2001_0db8_0000_0000_0000_0000_0000_0001n],
    ["::ffff:1.2.3.4", 0xffff_0102_0304n],
    ["1:2:3:4:5:6:7:8", 0x0001_0002_0003_0004_0005_0006_0007_0008n],
    ["1::8", 0x0001_0000_0000_0000_0000_0000_0000_0008n]
  ])("reads %s", (text, value) => assert.strictEqual(parseAddress(text)?.value, value))

  it.each([
    "",
    "1.2.3",
    "1.2.3.256",
    "01.2.3.4",
    "1.2.3.4.5",
    "0x7f.0.0.1",
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "fe80::1%eth0",
    "::1.2.3.400",
    "12345::",
    "host"
  ])("takes %s for none", (text) => assert.isUndefined(parseAddress(text)))

  it("reads blocks", () => {
    assert.strictEqual(parseBlock("10.0.0.0/8")?.bits, 8)
    assert.strictEqual(parseBlock("fd00::1")?.bits, 128)
    // As people write them: bits below the prefix do not count.
    assert.strictEqual(parseBlock(" 192.168.1.7/24 ")?.bits, 24)
    for (const wrong of ["10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/8/8", "host/8"]) {
      assert.isUndefined(parseBlock(wrong), wrong)
    }
  })
})

describe("kindOf", () => {
  it.each([
    ["0.1.2.3", "unspecified"],
    ["10.255.255.255", "private"],
    ["11.0.0.0", "public"],
    ["100.63.255.255", "public"],
    ["100.64.0.0", "shared"],
    ["100.127.255.255", "shared"],
    ["100.128.0.0", "public"],
    ["100.100.100.200", "metadata"],
    ["127.255.255.255", "loopback"],
    ["128.0.0.0", "public"],
    ["169.253.255.255", "public"],
    ["169.254.169.254", "metadata"],
    ["169.254.0.1", "link-local"],
    ["168.63.129.16", "metadata"],
    ["172.15.255.255", "public"],
    ["172.16.0.0", "private"],
    ["172.31.255.255", "private"],
    ["172.32.0.0", "public"],
    ["192.0.0.8", "reserved"],
    ["192.0.2.1", "documentation"],
    ["192.88.99.1", "translated"],
    ["192.168.255.255", "private"],
    ["198.17.255.255", "public"],
    ["198.18.0.0", "reserved"],
    ["198.20.0.0", "public"],
    ["203.0.113.5", "documentation"],
    ["223.255.255.255", "public"],
    ["224.0.0.1", "multicast"],
    ["240.0.0.1", "reserved"],
    ["255.255.255.255", "reserved"],
    ["::", "unspecified"],
    ["::1", "loopback"],
    ["::7f00:1", "translated"],
    ["::ffff:8.8.8.8", "public"],
    ["::ffff:10.0.0.1", "private"],
    ["::ffff:169.254.169.254", "metadata"],
    ["::ffff:0:127.0.0.1", "translated"],
    ["64:ff9b::8.8.8.8", "public"],
    ["64:ff9b::10.0.0.1", "private"],
    ["64:ff9b::7f00:1", "loopback"],
    ["64:ff9b:1::1", "translated"],
    ["100::1", "reserved"],
    ["2001::1", "translated"],
    ["2001:10::1", "reserved"],
    ["2001:200::1", "public"],
    ["2001:db8::1", "documentation"],
    ["2002:7f00:1::1", "translated"],
    ["2002:808:808::1", "translated"],
    ["2606:4700:4700::1111", "public"],
    ["2a00:1450:4001:80b::200e", "public"],
    ["3fff::1", "documentation"],
    ["2606:4700::5efe:10.0.0.1", "translated"],
    ["4000::1", "reserved"],
    ["5f00::1", "reserved"],
    ["fc00::1", "private"],
    ["fd00:ec2::254", "metadata"],
    ["fe80::1", "link-local"],
    ["febf::1", "link-local"],
    ["fec0::1", "private"],
    ["ff02::1", "multicast"],
    ["fe80::1%eth0", "reserved"],
    ["nonsense", "reserved"]
  ])("%s is %s", (address, kind) => assert.strictEqual(kindOf(address), kind))
})

describe("readAllowed", () => {
  const allowed = readAllowed(["10.0.0.0/8", "fd12::/16", "127.0.0.1", "LLM.lan."])

  it("allows the addresses of its blocks, however they are written", () => {
    for (const address of ["10.1.2.3", "fd12::5", "127.0.0.1", "::ffff:10.0.0.1"]) {
      assert.isTrue(allowsAddress(allowed, address), address)
    }
    for (const address of ["11.1.2.3", "fd13::5", "127.0.0.2", "::1", "LLM.lan"]) {
      assert.isFalse(allowsAddress(allowed, address), address)
    }
    assert.isTrue(allowed.names.has("llm.lan"))
  })
})
