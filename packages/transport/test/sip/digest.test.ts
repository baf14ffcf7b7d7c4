// Digests against the examples of the RFCs, and the life of a nonce.
import { describe, expect, it } from "vitest"
import { DigestClient, DigestServer } from "../../src/sip/digest.ts"
import { type DigestAlgorithm, readDigest, responseTo } from "../../src/sip/digestFields.ts"

describe("a response", () => {
  it.each<[string, DigestAlgorithm, string, string, string, string]>([
    // RFC 7616, 3.9.1.
    [
      "RFC 7616",
      "MD5",
      "Circle of Life",
      "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
      "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
      "8ca523f5e9506fed4657c9700eebdbec"
    ],
    [
      "RFC 7616",
      "SHA-256",
      "Circle of Life",
      "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
      "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
      "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"
    ]
  ])("of %s with %s", (_rfc, algorithm, password, nonce, cnonce, response) => {
    const realm = "http-auth@example.org"
    const fields = { algorithm, cnonce, nc: "00000001", nonce, qop: "auth" as const, realm, uri: "/dir/index.html" }
    expect(responseTo({ username: "Mufasa", password }, "GET", fields)).toBe(response)
  })

  it("of RFC 2617, 3.5", () => {
    const fields = {
      algorithm: "MD5" as const,
      cnonce: "0a4f113b",
      nc: "00000001",
      nonce: "dcd98b7102dd2f0e8b11d0f600bfb0c093",
      qop: "auth" as const,
      realm: "testrealm@host.com",
      uri: "/dir/index.html"
    }
    const credentials = { username: "Mufasa", password: "Circle Of Life" }
    expect(responseTo(credentials, "GET", fields)).toBe("6629fae49393a05397450978507c4ef1")
  })
})

describe("reading a digest", () => {
  it("takes values with and without quotes, the first of a name", () => {
    expect(readDigest('Digest username="a \\"b\\", c", nc=00000001,qop = auth, NONCE="x", nonce="y"')).toEqual({
      username: 'a "b", c',
      nc: "00000001",
      qop: "auth",
      nonce: "x"
    })
    expect(readDigest("")).toEqual({})
    expect(readDigest("Basic abc")).toEqual({})
  })
})

const credentials = { username: "u", password: "p" }

const setUp = () => {
  let nowMs = 1_000_000.25
  const server = new DigestServer("here", () => nowMs)
  const client = new DigestClient(credentials.username, credentials.password)
  const challenge = (stale = false) => server.challenge(stale).map((line) => readDigest(line.replace(/^.*?: /, "")))
  const verify = (header: string | undefined, method = "INVITE", expected = credentials) =>
    server.verify(header, method, expected)
  return { server, client, challenge, verify, pass: (ms: number) => void (nowMs += ms) }
}

describe("a challenge and its answer", () => {
  it.each([0, 1])("go together (algorithm %i)", (which) => {
    const { challenge, client, verify } = setUp()
    const answer = client.answer("INVITE", "sip:a@b", challenge()[which] ?? {})
    expect(verify(answer)).toBe("good")
  })

  it("count: the same answer again is stale, the next count is good", () => {
    const { challenge, client, verify } = setUp()
    const [given = {}] = challenge()
    const first = client.answer("INVITE", "sip:a@b", given)
    const second = client.answer("INVITE", "sip:a@b", given)
    expect(second).toContain("nc=00000002")
    expect([verify(first), verify(first), verify(second), verify(first)]).toEqual(["good", "stale", "good", "stale"])
  })

  it("without qop works once", () => {
    const { challenge, client, verify } = setUp()
    const [{ qop: _qop, ...given } = {}] = challenge()
    const answer = client.answer("INVITE", "sip:a@b", given)
    expect(answer).not.toContain("qop")
    expect([verify(answer), verify(answer)]).toEqual(["good", "stale"])
  })

  it("grow stale after a minute, and are stale for another server", () => {
    const { challenge, client, verify, pass } = setUp()
    const answer = client.answer("INVITE", "sip:a@b", challenge()[0] ?? {})
    expect(setUp().verify(answer)).toBe("stale")
    pass(60_001)
    expect(verify(answer)).toBe("stale")
  })

  it("fail for another password, name, method or realm, and for none", () => {
    const { challenge, client, verify } = setUp()
    const answer = client.answer("INVITE", "sip:a@b", challenge()[0] ?? {}) ?? ""
    expect(verify(answer, "INVITE", { ...credentials, password: "x" })).toBe("wrong")
    expect(verify(answer, "INVITE", { ...credentials, username: "x" })).toBe("wrong")
    expect(verify(answer, "BYE")).toBe("wrong")
    expect(verify(answer.replace('"here"', '"there"'))).toBe("wrong")
    expect(verify(answer.replace("SHA-256", "SHA-512-256"))).toBe("wrong")
    expect(verify(answer.replace("qop=auth", "qop=auth-int"))).toBe("wrong")
    expect(verify(answer.replace(/nc=\w+/, "nc=zz"))).toBe("wrong")
    expect(verify("Digest")).toBe("wrong")
    expect(verify(undefined)).toBe("missing")
    expect(verify(answer)).toBe("good")
  })
})

describe("an answer of ours", () => {
  const client = new DigestClient("u", "p")
  it.each<[string, Record<string, unknown>, boolean]>([
    ["a plain one", { realm: "r", nonce: "n" }, true],
    ["auth among others", { realm: "r", nonce: "n", qop: ["auth-int", "auth"] }, true],
    ["auth-int alone", { realm: "r", nonce: "n", qop: ["auth-int"] }, false],
    ["an unknown algorithm", { realm: "r", nonce: "n", algorithm: "SHA-512-256" }, false],
    ["no nonce", { realm: "r" }, false]
  ])("to %s", (_name, challenge, can) => {
    expect(client.answer("INVITE", "sip:a", challenge) !== undefined).toBe(can)
  })
})
