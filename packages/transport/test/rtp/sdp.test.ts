import { describe, expect, it } from "vitest"
import { agree, offered, suite } from "../../src/rtp/negotiation.ts"
import { readSdp, writeSdp } from "../../src/rtp/sdp.ts"

const sdp = (...lines: ReadonlyArray<string>) =>
  ["v=0", "o=- 1 1 IN IP4 192.0.2.1", "s=-", "c=IN IP4 192.0.2.1", "t=0 0", ...lines, ""].join("\r\n")
const agreed = (text: string, secure = false) => {
  const media = readSdp(text)
  return media && agree(media, secure)
}
const key = Buffer.alloc(30, 7)
const crypto = `a=crypto:3 ${suite} inline:${key.toString("base64")}|2^20|1:32`

describe("the agreement about media", () => {
  it("takes the far side's first codec that we speak, and its numbers for events", () => {
    expect(agreed(sdp("m=audio 4000 RTP/AVP 18 8 0 96", "a=rtpmap:96 telephone-event/8000"))).toMatchObject({
      codec: "pcma",
      payloadType: 8,
      events: { payloadType: 96 },
      address: "192.0.2.1",
      port: 4000,
      direction: "sendrecv"
    })
    const opus = agreed(
      sdp(
        "m=audio 4000 RTP/AVP 107 0 100 101",
        "a=rtpmap:107 opus/48000/2",
        "a=rtpmap:100 telephone-event/8000",
        "a=rtpmap:101 telephone-event/48000"
      )
    )
    expect(opus).toMatchObject({ codec: "opus", payloadType: 107, events: { payloadType: 101, rate: 48_000 } })
  })

  it.each([
    ["no media", sdp()],
    ["not SDP", "hello"],
    ["no codec of ours", sdp("m=audio 4000 RTP/AVP 18 4")],
    ["a refused line", sdp("m=audio 0 RTP/AVP 0")],
    ["video alone", sdp("m=video 4000 RTP/AVP 96", "a=rtpmap:96 H264/90000")],
    ["another protocol", sdp("m=audio 4000 TCP/MSRP *")],
    ["keys where none are wanted", sdp("m=audio 4000 RTP/SAVP 0", crypto)],
    ["a wrong port", sdp("m=audio 99999 RTP/AVP 0")],
    ["a wrong rate", sdp("m=audio 4000 RTP/AVP 96", "a=rtpmap:96 PCMU/16000")]
  ])("finds nothing in %s", (_what, text) => {
    expect(agreed(text)).toBeUndefined()
  })

  it("wants a key on secure trunks", () => {
    expect(agreed(sdp("m=audio 4000 RTP/AVP 0"), true)).toBeUndefined()
    expect(
      agreed(sdp("m=audio 4000 RTP/SAVP 0", "a=crypto:1 AES_256_CM_HMAC_SHA1_80 inline:AAAA"), true)
    ).toBeUndefined()
    const found = agreed(sdp("m=audio 4000 RTP/SAVP 0", crypto), true)
    expect(found?.theirKey?.tag).toBe("3")
    expect(found?.theirKey?.key.equals(key)).toBe(true)
  })

  it("faces the far side's direction, also the old way of holding", () => {
    const direction = (...lines: ReadonlyArray<string>) => agreed(sdp("m=audio 4000 RTP/AVP 0", ...lines))?.direction
    expect(direction("a=sendonly")).toBe("recvonly")
    expect(direction("a=recvonly")).toBe("sendonly")
    expect(direction("a=inactive")).toBe("inactive")
    expect(direction("c=IN IP4 0.0.0.0")).toBe("inactive")
    expect(agreed(sdp("a=sendonly", "m=audio 4000 RTP/AVP 0"))?.direction).toBe("recvonly")
  })

  it("takes the audio line among others, with an address of its own", () => {
    const found = agreed(
      sdp("m=video 5000 RTP/AVP 96", "m=audio 4000 RTP/AVP 8", "c=IN IP6 2001:db8::7", "m=audio 4002 RTP/AVP 0")
    )
    expect(found).toMatchObject({ line: 1, address: "2001:db8::7", port: 4000 })
  })

  it("reads its own writing", () => {
    const text = writeSdp({
      address: "192.0.2.9",
      sessionId: 5,
      version: 2,
      media: [
        { port: 4000, protocol: "RTP/SAVP", codecs: offered, direction: "sendrecv", key: { tag: "1", suite, key } },
        { ...(readSdp(sdp("m=video 5000 RTP/AVP 96"))?.[0] ?? fail()), port: 0 }
      ]
    })
    const [audio, video] = readSdp(text) ?? []
    expect(audio?.codecs.map(({ name, payloadType, rate }) => [payloadType, name, rate])).toEqual(
      offered.map(({ name, payloadType, rate }) => [payloadType, name, rate])
    )
    expect(audio?.keys[0]?.key.equals(key)).toBe(true)
    expect(video).toMatchObject({ kind: "video", port: 0, formats: ["96"] })
  })

  it("takes a payload type once, as it is described first", () => {
    const [media] = readSdp(
      sdp("m=audio 4000 RTP/AVP 96 96 0", "a=rtpmap:96 opus/48000/2", "a=rtpmap:96 PCMU/8000", "a=fmtp:96 a=1")
    ) ?? [fail()]
    expect(media?.formats).toEqual(["96", "96", "0"])
    expect(media?.codecs).toEqual([
      { payloadType: 96, name: "opus", rate: 48_000, fmtp: "a=1" },
      { payloadType: 0, name: "pcmu", rate: 8000, fmtp: "" }
    ])
  })

  it("reads the largest body of many payload types and codecs in no time", () => {
    const text = sdp(
      `m=audio 4000 RTP/AVP ${"1 ".repeat(22_000)}0`,
      ...Array.from({ length: 990 }, () => "a=rtpmap:2 X/1")
    )
    expect(text.length).toBeLessThan(65_536)
    const began = performance.now()
    expect(agreed(text)).toMatchObject({ codec: "pcmu" })
    // A few milliseconds; seconds when each payload type is looked for in each line.
    expect(performance.now() - began).toBeLessThan(500)
  })

  it("survives any bytes", () => {
    let seed = 1
    const random = () => (seed = (seed * 69_069 + 1) % 2 ** 32) / 2 ** 32
    const whole = sdp("m=audio 4000 RTP/AVP 0 96", "a=rtpmap:96 telephone-event/8000", crypto, "a=sendonly")
    for (let i = 0; i < 3_000; i++) {
      const at = Math.floor(random() * whole.length)
      const cut = Math.floor(random() * 12)
      const junk = String.fromCharCode(...Array.from({ length: cut }, () => Math.floor(random() * 256)))
      agreed(whole.slice(0, at) + junk + whole.slice(at + cut), random() < 0.5)
    }
  })
})

const fail = (): never => {
  throw new Error("no media")
}
