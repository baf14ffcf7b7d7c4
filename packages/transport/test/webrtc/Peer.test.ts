import type { RTCDataChannel } from "werift"
import { RTCPeerConnection, RTCRtpCodecParameters, type RTCRtpTransceiver } from "werift"
import { afterEach, describe, expect, it, vi } from "vitest"
import type { ReceiverRtp } from "../../src/rtp/RtpReceiver.ts"
import { Peer, type PeerOptions } from "../../src/webrtc/Peer.ts"
import { until } from "../wire/tone.ts"

const closing: Array<() => Promise<unknown>> = []
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()))
})

/** A client that offers like a browser SDK in single mode: microphone, three sections to listen on, data. */
const makeClient = (payloadType = 111) => {
  const opus = new RTCRtpCodecParameters({ mimeType: "audio/opus", clockRate: 48_000, channels: 2, payloadType })
  const pc = new RTCPeerConnection({
    codecs: { audio: [opus], video: [] },
    bundlePolicy: "max-bundle",
    iceServers: [],
    iceAdditionalHostAddresses: ["127.0.0.1"],
    iceUseIpv6: false
  })
  closing.push(() => pc.close())
  const received: Array<{ readonly payloadType: number; readonly marker: boolean }> = []
  const listening = [1, 2, 3].map(() => pc.addTransceiver("audio", { direction: "recvonly" }))
  for (const transceiver of listening) {
    transceiver.onTrack.subscribe((track) => track.onReceiveRtp.subscribe(({ header }) => void received.push(header)))
  }
  const mic: RTCRtpTransceiver = pc.addTransceiver("audio", { direction: "sendonly" })
  const channel = pc.createDataChannel("_reliable")
  return { pc, mic, channel, received }
}

const makePeer = (options: PeerOptions = {}) => {
  const heard: Array<ReceiverRtp> = []
  const channels: Array<RTCDataChannel> = []
  let connected = 0
  const peer = new Peer(options, {
    onRtp: (rtp) => void heard.push(rtp),
    onRtcp: () => undefined,
    onChannel: (channel) => void channels.push(channel),
    onConnected: () => void connected++
  })
  closing.push(() => peer.close())
  return { peer, heard, channels, connected: () => connected }
}

type Client = ReturnType<typeof makeClient>

const offerOf = async ({ pc }: Client, restart = false): Promise<string> => {
  for (const { connection } of pc.iceTransports) delete connection.stunServer
  await pc.setLocalDescription(await pc.createOffer({ iceRestart: restart }))
  return pc.localDescription?.sdp ?? ""
}

const strip = (sdp: string): string => sdp.replace(/^a=(candidate|end-of-candidates).*\r\n/gm, "")
const sections = (sdp: string): ReadonlyArray<string> => sdp.split(/(?=^m=)/m).slice(1)

const speak = (peer: Peer, sequence: number): void =>
  peer.sendVoice({ sequence, timestamp: sequence * 960, marker: sequence === 1, payload: Buffer.from([1, 2, 3]) })

const both = async (client: Client, server: ReturnType<typeof makePeer>): Promise<void> => {
  const heard = client.received.length
  let sequence = 1
  await until("our voice arrives", () => {
    speak(server.peer, sequence++)
    return client.received.length > heard + 3
  })
}

describe("Peer", () => {
  it("speaks on the first section on which the client only listens, and refuses no other", async () => {
    const client = makeClient()
    const server = makePeer()
    const answer = await server.peer.answer(await offerOf(client), "PA_1|TR_1")
    expect(sections(answer).map((s) => /a=(sendonly|recvonly|inactive|sendrecv)/.exec(s)?.[1])).toEqual([
      "sendonly",
      "inactive",
      "inactive",
      "recvonly",
      undefined
    ])
    expect(sections(answer)[0]).toContain("a=msid:PA_1|TR_1 ")
    expect(server.peer.voiceMid).toBe(/a=mid:(\S+)/.exec(sections(answer)[0] ?? "")?.[1])
    await client.pc.setRemoteDescription({ type: "answer", sdp: answer })
    await until("connected", () => server.connected() === 1 && server.channels.length === 1)
    await both(client, server)
    expect(client.received[0]?.marker).toBe(true)
  })

  it("answers video sections as inactive, in both directions, and refuses none", async () => {
    const vp8 = new RTCRtpCodecParameters({ mimeType: "video/VP8", clockRate: 90_000, payloadType: 120 })
    const pc = new RTCPeerConnection({ codecs: { video: [vp8] }, iceServers: [], iceUseIpv6: false })
    closing.push(() => pc.close())
    for (const direction of ["recvonly", "sendonly", "sendrecv"] as const) pc.addTransceiver("video", { direction })
    const server = makePeer()
    for (const round of [1, 2]) {
      const offer = await pc.createOffer()
      await pc.setLocalDescription(offer)
      const answer = await server.peer.answer(pc.localDescription?.sdp ?? "", "PA_1|TR_1")
      expect(sections(answer).length, `round ${round}`).toBe(3)
      for (const section of sections(answer)) {
        expect(section).toMatch(/^m=video [1-9]/)
        expect(section).toContain("a=inactive")
      }
      await pc.setRemoteDescription({ type: "answer", sdp: answer })
    }
  })

  it("has no voice when the client offers nothing to listen on", async () => {
    const server = makePeer()
    const pc = new RTCPeerConnection({ iceServers: [], iceUseIpv6: false })
    closing.push(() => pc.close())
    pc.createDataChannel("_reliable")
    await server.peer.answer((await pc.createOffer()).sdp ?? "", "PA_1|TR_1")
    expect(server.peer.voiceMid).toBeUndefined()
    speak(server.peer, 1)
  })

  it("offers full ICE, its candidates, Opus only, and no port outside its range", async () => {
    const client = makeClient()
    const server = makePeer({ portRange: [41_000, 41_500], advertisedAddress: "203.0.113.9" })
    const answer = await server.peer.answer(await offerOf(client), "PA_1|TR_1")
    expect(answer).not.toMatch(/ice-lite|srflx|a=rtpmap:\d+ (?!opus)/)
    const ports = [...answer.matchAll(/^a=candidate:\S+ 1 udp \d+ (\S+) (\d+) typ host/gm)]
    expect(ports.length).toBeGreaterThan(0)
    for (const [, , port] of ports) {
      expect(Number(port)).toBeGreaterThanOrEqual(41_000)
      expect(Number(port)).toBeLessThanOrEqual(41_500)
    }
  })

  it("is heard again after an ICE restart, also with an inactive section and candidates that came first", async () => {
    const client = makeClient()
    const server = makePeer()
    await client.pc.setRemoteDescription({
      type: "answer",
      sdp: await server.peer.answer(await offerOf(client), "PA_1|TR_1")
    })
    await until("connected", () => server.connected() === 1)
    await both(client, server)
    for (let round = 0; round < 3; round++) {
      const offer = await offerOf(client, true)
      // Rust clients trickle the new generation before they offer it; browsers offer refused sections as inactive.
      const mine = [...offer.matchAll(/^a=(candidate:.*)\r?$/gm)].map(([, candidate]) => candidate)
      const ufrag = /a=ice-ufrag:(\S+)/.exec(offer)?.[1]
      for (const candidate of mine) {
        server.peer.addCandidate(JSON.stringify({ candidate, sdpMid: "0", usernameFragment: ufrag }))
      }
      const bare = strip(offer)
      const [head = "", ...rest] = bare.split(/(?=^m=)/m)
      const inactive = [head, ...rest.map((s, i) => (i === 1 ? s.replace("a=recvonly", "a=inactive") : s))].join("")
      const before = /a=ice-ufrag:(\S+)/.exec(client.pc.remoteDescription?.sdp ?? "")?.[1]
      const answer = await server.peer.answer(inactive, "PA_1|TR_1")
      expect(/a=ice-ufrag:(\S+)/.exec(answer)?.[1]).not.toBe(before)
      await client.pc.setRemoteDescription({ type: "answer", sdp: answer })
      for (const transport of client.pc.iceTransports) void transport.start().catch(() => undefined)
      await both(client, server)
    }
  })

  it("is heard again after an ICE restart of which no candidate is told at all", async () => {
    const client = makeClient()
    const server = makePeer()
    const first = strip(await offerOf(client))
    await client.pc.setRemoteDescription({ type: "answer", sdp: await server.peer.answer(first, "PA_1|TR_1") })
    await until("connected", () => server.connected() === 1)
    await both(client, server)
    const again = strip(await offerOf(client, true))
    await client.pc.setRemoteDescription({ type: "answer", sdp: await server.peer.answer(again, "PA_1|TR_1") })
    for (const transport of client.pc.iceTransports) void transport.start().catch(() => undefined)
    await both(client, server)
  })

  it("holds candidates of a generation that is not offered yet", async () => {
    const client = makeClient()
    const server = makePeer()
    await server.peer.answer(await offerOf(client), "PA_1|TR_1")
    const added = vi.spyOn(RTCPeerConnection.prototype, "addIceCandidate")
    const tell = (port: number, usernameFragment: string | undefined): void =>
      server.peer.addCandidate(
        JSON.stringify({ candidate: `candidate:1 1 udp 1 127.0.0.1 ${port} typ host`, sdpMid: "0", usernameFragment })
      )
    const offer = await offerOf(client, true)
    tell(50_001, /a=ice-ufrag:(\S+)/.exec(offer)?.[1])
    tell(50_002, "never")
    expect(added).not.toHaveBeenCalled()
    await server.peer.answer(offer, "PA_1|TR_1")
    tell(50_003, undefined)
    expect(added.mock.calls.map(([init]) => /127\.0\.0\.1 (\d+)/.exec(init?.candidate ?? "")?.[1])).toEqual([
      "50001",
      "50003"
    ])
    added.mockRestore()
  })

  it("answers a Firefox offer: bundle-only sections live, Opus under the client's number", async () => {
    const client = makeClient(109)
    const offer = await offerOf(client)
    const [head = "", first = "", ...rest] = offer.split(/(?=^m=)/m)
    const firefox = [
      head,
      first,
      ...rest.map((s) => s.replace(/^(m=\S+) \d+ (.*\r\n)/, "$1 0 $2a=bundle-only\r\n"))
    ].join("")
    expect(firefox.match(/bundle-only/g)?.length).toBe(4)
    const server = makePeer()
    const answer = await server.peer.answer(firefox, "PA_1|TR_1")
    expect(sections(answer).every((s) => !/^m=\S+ 0 /.test(s))).toBe(true)
    expect(sections(answer)[3]).toContain("a=recvonly")
    await client.pc.setRemoteDescription({ type: "answer", sdp: answer })
    await both(client, server)
    expect(new Set(client.received.map((header) => header.payloadType))).toEqual(new Set([109]))
  })

  it("returns from a candidate at once, whatever it is", async () => {
    const client = makeClient()
    const server = makePeer()
    await server.peer.answer(await offerOf(client), "PA_1|TR_1")
    const before = performance.now()
    const local = "candidate:1 1 udp 2122260223 5b6b2a51-7a4e.local 50000 typ host"
    for (const json of [
      JSON.stringify({ candidate: local, sdpMid: "0" }),
      "{}",
      "",
      JSON.stringify({ candidate: "", sdpMid: "0" })
    ]) {
      expect(server.peer.addCandidate(json)).toBeUndefined()
    }
    for (let i = 0; i < 1000; i++) {
      server.peer.addCandidate(
        JSON.stringify({ candidate: `candidate:1 1 udp 1 192.0.2.1 ${i + 1} typ host`, sdpMid: "nope" })
      )
    }
    expect(performance.now() - before).toBeLessThan(2000)
  })

  it("refuses what is no offer, and closes in any state", async () => {
    const { peer } = makePeer()
    await expect(peer.answer("no sdp at all", "PA|TR")).rejects.toThrow()
    await peer.close()
    await peer.close()
    await expect(peer.answer("v=0", "PA|TR")).rejects.toThrow()
  })
})
