import { assert, describe, it } from "@effect/vitest"
import { urlFault } from "../src/PublicAddress.ts"

const rules = { schemes: ["https:"], queryAllowed: true }

describe("urlFault", () => {
  it.each([
    "https://localhost/x",
    "https://a.localhost/",
    "https://printer.local",
    "https://db",
    "https://127.0.0.1",
    "https://127.1",
    "https://0x7f000001",
    "https://2130706433",
    "https://017700000001",
    "https://10.1.2.3",
    "https://172.31.255.255",
    "https://192.168.0.1",
    "https://169.254.169.254/latest",
    "https://100.64.0.1",
    "https://0.0.0.0",
    "https://224.0.0.1",
    "https://255.255.255.255",
    "https://metadata.google.internal",
    "https://[::1]",
    "https://[::ffff:10.0.0.1]",
    "https://[fe80::1]",
    "https://[fd00::1]",
    "https://[2002:7f00:1::]",
    "https://[2001:db8::1]",
    "https://user:pw@example.com",
    "http://example.com",
    "ftp://example.com",
    "nonsense"
  ])("refuses %s", (url) => assert.isString(urlFault(url, rules, [])))

  it.each(["https://example.com/a?b=c", "https://8.8.8.8", "https://172.32.0.1", "https://[2606:4700::1111]:8443/x"])(
    "takes %s",
    (url) => assert.isUndefined(urlFault(url, rules, []))
  )

  it("takes what the self-hoster allows, also without TLS", () => {
    assert.isUndefined(urlFault("http://10.1.2.3:8000/v1", rules, ["10.0.0.0/8"]))
    assert.isUndefined(urlFault("http://llm:8000/v1", rules, ["llm"]))
    assert.isString(urlFault("http://11.1.2.3/v1", rules, ["10.0.0.0/8"]))
    assert.isString(urlFault("https://example.com/?q", { ...rules, queryAllowed: false }, []))
  })
})
