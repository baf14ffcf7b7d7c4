// What does one WebRTC call cost the server, and how long does it take to set up? N clients in another process
// send and receive 50 packets a second each; the server decodes to 16 kHz and encodes from 24 kHz, all the time
// (`speaking 100`) or as an agent does who speaks less than half of it (`speaking 40`).
//   node bench/webrtc.bench.ts [calls=20] [seconds=10]
import { makeLiveKitServer } from "@parley/transport/livekit/LiveKitServer"
import { JoinRequest, SessionDescription, SignalResponse, WrappedJoinRequest } from "@livekit/protocol"
import type { Leg } from "@parley/engine/leg/Leg"
import { fork } from "node:child_process"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { makeOpusEncoder } from "@parley/audio/opus/OpusEncoder"
import { RTCPeerConnection, RTCRtpCodecParameters, RtpHeader, RtpPacket } from "werift"
import { WebSocket } from "ws"
import { report } from "./report.ts"

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** A stand-in for speech: three moving tones and some noise, so that the codec has work to do. */
const speech = (samples: number): Int16Array => {
  const out = new Int16Array(samples)
  for (let i = 0; i < samples; i++) {
    const t = i / 24_000
    const swell = 0.5 + 0.5 * Math.sin(2 * Math.PI * 3 * t)
    const voice = Math.sin(2 * Math.PI * (140 + 30 * Math.sin(5 * t)) * t) + 0.6 * Math.sin(2 * Math.PI * 610 * t)
    out[i] = 7000 * swell * (voice + 0.4 * (Math.random() - 0.5))
  }
  return out
}

const serve = async (calls: number, seconds: number): Promise<void> => {
  const legs: Array<Leg> = []
  let frames = 0
  const liveKit = makeLiveKitServer({
    handlers: {
      admit: async (token) => ({ sessionId: token, identity: `user-${token}`, room: token }),
      onLeg: (_, leg) => {
        legs.push(leg)
        leg.attach({
          onFrame: () => void frames++,
          onEvent: () => undefined,
          onDigit: () => undefined,
          onClosed: () => undefined
        })
      }
    }
  })
  const server = createServer()
  server.on("upgrade", (request, socket, head) => void liveKit.handleUpgrade(request, socket, head))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))

  const samples = speech(24_000 * 4)
  let at = 0
  let speaking = 100
  const tick = setInterval(() => {
    at = (at + 480) % (samples.length - 480)
    const frame = samples.subarray(at, at + 480)
    legs.forEach((leg, i) => leg.play((at / 480 + i * 37) % 100 < speaking ? frame : undefined))
  }, 20)

  const { port } = server.address() as AddressInfo
  const clients = fork(import.meta.filename, ["clients", String(port), String(calls)])
  const setups = await new Promise<ReadonlyArray<number>>((resolve) =>
    clients.once("message", (message) => resolve(message as ReadonlyArray<number>))
  )
  const rows: Array<Record<string, number>> = []
  for (const share of [100, 40]) {
    speaking = share
    await sleep(2000)
    const delay = monitorEventLoopDelay({ resolution: 5 })
    delay.enable()
    const cpu = process.cpuUsage()
    const heard = frames
    const began = performance.now()
    await sleep(seconds * 1000)
    const wallMs = performance.now() - began
    const { system, user } = process.cpuUsage(cpu)
    rows.push({
      calls: legs.length,
      speaking: share,
      cpuPercentPerCall: round((user + system) / 10 / wallMs / legs.length),
      framesPerSecondPerCall: round(((frames - heard) / wallMs / legs.length) * 1000),
      loopDelayP50Ms: round(delay.percentile(50) / 1e6),
      loopDelayP99Ms: round(delay.percentile(99) / 1e6),
      rssMb: round(process.memoryUsage.rss() / 2 ** 20)
    })
    delay.disable()
  }
  console.table(rows)
  const closes: Array<number> = []
  for (const leg of legs) {
    const live = liveKit.stats().calls
    const closing = performance.now()
    leg.close("agent_hangup")
    while (liveKit.stats().calls === live) await sleep(1)
    closes.push(performance.now() - closing)
  }
  const cost = (i: number): ReadonlyArray<number> => [rows[i]?.["cpuPercentPerCall"] ?? 0]
  report(
    "webrtc",
    [
      { what: `CPU of a core per call, ${calls} calls, agent always speaking`, unit: "%", values: cost(0) },
      { what: `CPU of a core per call, ${calls} calls, agent speaking 40 %`, unit: "%", values: cost(1) },
      { what: "set-up, socket to first agent packet, one after the other", unit: "ms", values: setups },
      { what: "close of a call, ports and timers free", unit: "ms", values: closes, target: "<= 20 ms" }
    ],
    [...rows, { setupsMs: setups.map(round), closesMs: closes.map(round) }]
  )
  clearInterval(tick)
  clients.kill()
  await liveKit.close()
  server.close()
}

const round = (value: number): number => Math.round(value * 100) / 100

const runClients = async (port: number, calls: number): Promise<void> => {
  const encoder = await makeOpusEncoder({ sampleRate: 24_000, bitsPerSecond: 24_000 })
  const samples = speech(480 * 100)
  const packets = Array.from({ length: 100 }, (_, i) =>
    Buffer.from(encoder.encode(samples.subarray(i * 480, i * 480 + 480)))
  )
  const talkers: Array<() => void> = []
  setInterval(() => talkers.forEach((talk) => talk()), 20)
  const setups: Array<number> = []
  for (let i = 0; i < calls; i++) {
    const began = performance.now()
    const opus = new RTCRtpCodecParameters({ mimeType: "audio/opus", clockRate: 48_000, channels: 2, payloadType: 111 })
    const pc = new RTCPeerConnection({
      codecs: { audio: [opus], video: [] },
      bundlePolicy: "max-bundle",
      iceServers: [],
      iceUseIpv6: false
    })
    const audio = pc.addTransceiver("audio", { direction: "recvonly" })
    const mic = pc.addTransceiver("audio", { direction: "sendonly" })
    pc.createDataChannel("_reliable")
    const heard = new Promise<void>((resolve) =>
      audio.onTrack.subscribe((track) => track.onReceiveRtp.subscribe(() => resolve()))
    )
    const offer = await pc.createOffer()
    for (const { connection } of pc.iceTransports) delete connection.stunServer
    await pc.setLocalDescription(offer)
    const publisherOffer = new SessionDescription({ type: "offer", sdp: pc.localDescription?.sdp ?? "" })
    const joinRequest = new JoinRequest({ publisherOffer }).toBinary()
    const wrapped = Buffer.from(new WrappedJoinRequest({ joinRequest }).toBinary()).toString("base64url")
    const ws = new WebSocket(`ws://127.0.0.1:${port}/rtc/v1?access_token=call-${i}&join_request=${wrapped}`)
    ws.on("message", (data: Buffer) => {
      const { message } = SignalResponse.fromBinary(data)
      if (message.case === "answer") void pc.setRemoteDescription({ type: "answer", sdp: message.value.sdp })
    })
    await heard
    setups.push(performance.now() - began)
    let sequence = 0
    talkers.push(() => {
      sequence++
      const header = new RtpHeader({
        payloadType: 111,
        sequenceNumber: sequence & 0xffff,
        timestamp: (sequence * 960) >>> 0
      })
      mic.sender.sendRtp(new RtpPacket(header, packets[sequence % 100] ?? Buffer.alloc(1))).catch(() => undefined)
    })
  }
  process.send?.(setups)
}

if (process.argv[2] === "clients") await runClients(Number(process.argv[3]), Number(process.argv[4]))
else await serve(Number(process.argv[2] ?? 20), Number(process.argv[3] ?? 10))
