// The pinned protocol package: 2.0.0 of it drops `midToTrackId` on encoding, and clients then never learn
// which track is on which section.
import { JoinRequest, SessionDescription, WrappedJoinRequest, WrappedJoinRequest_Compression } from "@livekit/protocol"
import { gzipSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import { readJoinRequest } from "../../src/livekit/joinRequest.ts"
import { signalPath } from "../../src/livekit/JoinQuery.ts"
import manifest from "../../package.json" with { type: "json" }

const wrap = (joinRequest: Uint8Array<ArrayBuffer>, compression: WrappedJoinRequest_Compression): string =>
  Buffer.from(new WrappedJoinRequest({ joinRequest, compression }).toBinary()).toString("base64url")

describe("the protocol package", () => {
  it("is pinned to 1.52 and carries midToTrackId over the wire", () => {
    expect(manifest.dependencies["@livekit/protocol"]).toMatch(/^1\.52\.\d+$/)
    const sent = new SessionDescription({ type: "answer", sdp: "v=0", midToTrackId: { "0": "TR_1" } })
    expect(SessionDescription.fromBinary(sent.toBinary()).midToTrackId).toEqual({ "0": "TR_1" })
  })
})

describe("JoinQuery", () => {
  const request = new JoinRequest({ reconnect: true, participantSid: "PA_1" })
  it("reads a join request, packed or not", () => {
    const packed = wrap(new Uint8Array(gzipSync(request.toBinary())), WrappedJoinRequest_Compression.GZIP)
    const plain = wrap(new Uint8Array(request.toBinary()), WrappedJoinRequest_Compression.NONE)
    for (const text of [packed, plain]) expect(readJoinRequest(text)?.participantSid).toBe("PA_1")
  })

  it.each([
    ["no protobuf", Buffer.from([255, 255, 255]).toString("base64url")],
    ["no gzip", wrap(Uint8Array.of(1, 2, 3), WrappedJoinRequest_Compression.GZIP)],
    ["a bomb", wrap(new Uint8Array(gzipSync(Buffer.alloc(10_000_000))), WrappedJoinRequest_Compression.GZIP)]
  ])("refuses %s", (_, text) => {
    expect(readJoinRequest(text)).toBeUndefined()
  })

  it("knows its paths", () => {
    expect(signalPath("/rtc?x=1")).toEqual({ path: "join", mode: "dual" })
    expect(signalPath("/rtc/v1/?x=1")).toEqual({ path: "join", mode: "single" })
    expect(signalPath("/rtc/validate")).toEqual({ path: "validate", mode: "dual" })
    expect(signalPath("/rtc/v1/validate")).toEqual({ path: "validate", mode: "single" })
    for (const url of ["/", "/rtcx", "/rtc/v2", "//", "/rtc/v1/validate/x"]) expect(signalPath(url)).toBeUndefined()
  })
})
