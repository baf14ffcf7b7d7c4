import { describe, expect, it } from "vitest"
import { advertise, dropUnusableCandidates, iceUfrag, readCandidate, repairOffer } from "../../src/webrtc/ClientSdp.ts"

const sdp = (...lines: ReadonlyArray<string>): string => lines.map((line) => `${line}\r\n`).join("")

const init = (candidate: string, more: object = {}): string => JSON.stringify({ candidate, sdpMid: "0", ...more })

describe("repairOffer", () => {
  it("lets no inactive section make an ICE restart look like a renomination", () => {
    const offer = sdp(
      "v=0",
      "m=audio 9 UDP/TLS/RTP/SAVPF 111",
      "a=sendonly",
      "m=video 9 UDP/TLS/RTP/SAVPF 96",
      "a=inactive"
    )
    expect(repairOffer(offer)).toBe(offer.replace("a=inactive", "a=recvonly"))
  })

  it("keeps Firefox's bundled sections alive", () => {
    const offer = sdp(
      "v=0",
      "a=group:BUNDLE 0 1",
      "m=audio 9 UDP/TLS/RTP/SAVPF 109",
      "a=mid:0",
      "m=audio 0 UDP/TLS/RTP/SAVPF 109 9 0 8 101",
      "a=bundle-only",
      "a=mid:1"
    )
    const repaired = repairOffer(offer)
    expect(repaired).toContain("m=audio 9 UDP/TLS/RTP/SAVPF 109 9 0 8 101\r\n")
    expect(repaired).not.toContain("bundle-only")
  })

  it("leaves a section alone that is really refused", () => {
    const offer = sdp("v=0", "m=video 0 UDP/TLS/RTP/SAVPF 96", "a=mid:1")
    expect(repairOffer(offer)).toBe(offer)
  })

  it("reads line ends of both kinds, and nonsense, without a throw", () => {
    expect(repairOffer("v=0\nm=audio 9 X 1\na=inactive\n")).toBe("v=0\nm=audio 9 X 1\na=recvonly\n")
    expect(repairOffer("")).toBe("")
    expect(iceUfrag("v=0\r\na=ice-ufrag:Ab/+\r\n")).toBe("Ab/+")
    expect(iceUfrag("v=0")).toBeUndefined()
  })
})

describe("readCandidate", () => {
  const host = "candidate:1 1 udp 2122260223 192.0.2.7 50000 typ host generation 0 ufrag Xy12 network-id 1"

  it("reads the candidate and the generation it belongs to", () => {
    expect(readCandidate(init(host))).toEqual({ candidate: host, sdpMid: "0", ufrag: "Xy12" })
    expect(readCandidate(init(host, { usernameFragment: "Zz", sdpMLineIndex: 2 }))).toMatchObject({
      ufrag: "Zz",
      sdpMLineIndex: 2
    })
  })

  it.each([
    ["an mDNS name", init("candidate:1 1 udp 2122260223 5b6b2a51-7a4e.local 50000 typ host")],
    ["Firefox's end of candidates", init("", { usernameFragment: "Xy12" })],
    ["a TCP candidate", init("candidate:1 1 tcp 1518280447 192.0.2.7 9 typ host tcptype active")],
    ["a null", "null"],
    ["no JSON", "{"],
    ["a number", "42"],
    ["a port out of range", init("candidate:1 1 udp 1 192.0.2.7 99999 typ host")],
    ["half a line", init("candidate:1 1 udp")]
  ])("passes over %s", (_, json) => {
    expect(readCandidate(json)).toBeUndefined()
  })
})

describe("candidates in descriptions", () => {
  it("drops mDNS names and the end mark", () => {
    const offer = sdp(
      "a=candidate:1 1 udp 2122260223 abc.local 50000 typ host",
      "a=candidate:2 1 udp 2122260223 192.0.2.7 50000 typ host",
      "a=end-of-candidates",
      "a=mid:0"
    )
    expect(dropUnusableCandidates(offer)).toBe(
      sdp("a=candidate:2 1 udp 2122260223 192.0.2.7 50000 typ host", "a=mid:0")
    )
  })

  it("tells host candidates a second time under the public address", () => {
    const answer = sdp(
      "a=candidate:f1 1 udp 2116026367 10.0.0.5 40001 typ host generation 0",
      "a=candidate:f2 1 udp 2116026367 127.0.0.1 40002 typ host"
    )
    expect(advertise(answer, "203.0.113.9")).toBe(
      sdp(
        "a=candidate:f1 1 udp 2116026367 10.0.0.5 40001 typ host generation 0",
        "a=candidate:f1p 1 udp 2116026366 203.0.113.9 40001 typ host generation 0",
        "a=candidate:f2 1 udp 2116026367 127.0.0.1 40002 typ host"
      )
    )
  })
})
