import {
  AddTrackRequest,
  DataPacket,
  JoinRequest,
  LeaveRequest,
  LeaveRequest_Action,
  SessionDescription,
  SignalRequest,
  SignalResponse,
  WrappedJoinRequest
} from "@livekit/protocol"
import { afterEach, describe, expect, it } from "vitest"
import { type RTCDataChannel, RTCPeerConnection, RTCRtpCodecParameters } from "werift"
import { WebSocket } from "ws"
import { startHost, type Host } from "../wire/Host.ts"
import { until } from "../wire/tone.ts"

const closing: Array<() => Promise<unknown> | void> = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

const start = async (options: Parameters<typeof startHost>[0] = {}): Promise<Host> => {
  const host = await startHost(options)
  closing.push(host.close)
  return host
}

interface Signal {
  readonly ws: WebSocket
  readonly got: Array<SignalResponse["message"]>
  readonly cases: () => Array<string | undefined>
  readonly send: (message: SignalRequest["message"]) => void
  readonly closed: () => number | undefined
  readonly refused: () => string | undefined
}

const connect = (url: string): Signal => {
  const ws = new WebSocket(url)
  const got: Array<SignalResponse["message"]> = []
  let closed: number | undefined
  let refused: string | undefined
  ws.on("message", (data: Buffer) => void got.push(SignalResponse.fromBinary(data).message))
  ws.on("close", (code) => (closed = code))
  ws.on("error", () => undefined)
  ws.on("unexpected-response", (_, response) => {
    let body = ""
    response.on("data", (chunk: Buffer) => (body += chunk.toString()))
    response.on("end", () => (refused = `${response.statusCode} ${body}`))
  })
  closing.push(() => ws.terminate())
  return {
    ws,
    got,
    cases: () => got.map((m) => m.case),
    send: (message) => ws.send(new SignalRequest({ message }).toBinary()),
    closed: () => closed,
    refused: () => refused
  }
}

const joinUrl = (host: Host, token: string, request: Partial<JoinRequest> = {}): string => {
  const joinRequest = new JoinRequest(request).toBinary()
  const wrapped = Buffer.from(new WrappedJoinRequest({ joinRequest }).toBinary()).toString("base64url")
  return `${host.url}/rtc/v1?access_token=${token}&join_request=${wrapped}`
}

const makePc = (): RTCPeerConnection => {
  const opus = new RTCRtpCodecParameters({ mimeType: "audio/opus", clockRate: 48_000, channels: 2, payloadType: 111 })
  const pc = new RTCPeerConnection({
    codecs: { audio: [opus], video: [] },
    bundlePolicy: "max-bundle",
    iceServers: [],
    iceAdditionalHostAddresses: ["127.0.0.1"],
    iceUseIpv6: false
  })
  closing.push(() => pc.close())
  return pc
}

const offerOf = async (pc: RTCPeerConnection): Promise<SessionDescription> => {
  const offer = await pc.createOffer()
  for (const { connection } of pc.iceTransports) delete connection.stunServer
  await pc.setLocalDescription(offer)
  return new SessionDescription({ type: "offer", sdp: pc.localDescription?.sdp ?? "", id: 7 })
}

/** Joins with media, as far as werift gets by itself. */
const joinWithMedia = async (
  host: Host,
  token: string
): Promise<{
  readonly pc: RTCPeerConnection
  readonly channel: RTCDataChannel
  readonly signal: Signal
  readonly sid: string
  readonly stopMedia: () => void
}> => {
  const pc = makePc()
  pc.addTransceiver("audio", { direction: "recvonly" })
  const channel = pc.createDataChannel("_reliable")
  const signal = connect(joinUrl(host, token, { publisherOffer: await offerOf(pc) }))
  await until("the answer", () => signal.cases().includes("answer"))
  const answer = signal.got.find((m) => m.case === "answer")
  await pc.setRemoteDescription({
    type: "answer",
    sdp: answer?.value instanceof SessionDescription ? answer.value.sdp : ""
  })
  const join = signal.got[0]
  return {
    pc,
    channel,
    signal,
    sid: join?.case === "join" ? (join.value.participant?.sid ?? "") : "",
    // Its reports would go on, 0.5 to 1.5 s apart, and each is a sign of life.
    stopMedia: () => {
      for (const { receiver, sender } of pc.getTransceivers()) {
        receiver.stop()
        sender.stop()
      }
    }
  }
}

const lastEvent = (data: string | Buffer): string => {
  const { value } = DataPacket.fromBinary(Buffer.from(data))
  return value.case === "user" ? String(JSON.parse(new TextDecoder().decode(value.value.payload)).type) : ""
}

const open = (kinds: RegExp): number => process.getActiveResourcesInfo().filter((kind) => kinds.test(kind)).length
const udp = (): number => open(/UDP/)
const resources = (): number => open(/UDP|Timeout|TCPServer|TCPSocket|Immediate/)

describe("LiveKitServer", () => {
  it("lists the agent and its track before anything refers to them", async () => {
    const host = await start()
    const pc = makePc()
    pc.createDataChannel("_reliable")
    const signal = connect(joinUrl(host, await host.token("order"), { publisherOffer: await offerOf(pc) }))
    await until("the request for a section", () => signal.cases().includes("mediaSectionsRequirement"))
    expect(signal.cases()).toEqual(["join", "answer", "mediaSectionsRequirement"])
    const join = signal.got[0]
    if (join?.case !== "join") throw new Error("no join")
    expect(join.value.serverInfo?.version).not.toBe("")
    expect(join.value.subscriberPrimary).toBe(false)
    const [agent] = join.value.otherParticipants
    expect(agent?.sid).toMatch(/^PA_/)
    expect(agent?.tracks[0]?.sid).toMatch(/^TR_/)
    expect(agent?.attributes["lk.agent.state"]).toBe("initializing")

    pc.addTransceiver("audio", { direction: "recvonly" })
    const answer = signal.got[1]
    if (answer?.case !== "answer") throw new Error("no answer")
    expect(answer.value.id).toBe(7)
    await pc.setRemoteDescription({ type: "answer", sdp: answer.value.sdp })
    signal.send({ case: "offer", value: await offerOf(pc) })
    await until("the second answer", () => signal.cases().filter((c) => c === "answer").length === 2)
    const second = signal.got.at(-1)
    expect(second?.case === "answer" && Object.values(second.value.midToTrackId)).toEqual([agent?.tracks[0]?.sid])
  })

  it("offers in dual mode only after the join", async () => {
    const host = await start()
    const signal = connect(`${host.url}/rtc?access_token=${await host.token("dual")}`)
    await until("the offer", () => signal.cases().includes("offer"))
    expect(signal.cases()).toEqual(["join", "offer"])
    const [join, offer] = signal.got
    expect(join?.case === "join" && join.value.subscriberPrimary).toBe(true)
    expect(offer?.case === "offer" && Object.values(offer.value.midToTrackId)[0]).toMatch(/^TR_/)
  })

  it("answers a track that is added right behind the join, and pings of both kinds", async () => {
    const host = await start()
    const pc = makePc()
    pc.createDataChannel("_reliable")
    const signal = connect(joinUrl(host, await host.token("early"), { publisherOffer: await offerOf(pc) }))
    signal.ws.on("open", () => {
      signal.send({ case: "addTrack", value: new AddTrackRequest({ cid: "c1", name: "mic" }) })
      signal.send({ case: "ping", value: 1n })
      signal.send({
        case: "pingReq",
        value: SignalRequest.fromJson({ pingReq: { timestamp: "5" } }).message.value as never
      })
    })
    await until("the pong", () => signal.cases().includes("pongResp"))
    expect(signal.cases()).toEqual([
      "join",
      "answer",
      "mediaSectionsRequirement",
      "trackPublished",
      "update",
      "trackSubscribed",
      "pong",
      "pongResp"
    ])
  })

  it("resumes with `reconnect` first, and sends a stranger back to a full join", async () => {
    const host = await start()
    const token = await host.token("resume")
    const { sid, signal } = await joinWithMedia(host, token)
    await until("the leg", () => host.calls.has("resume"))
    signal.ws.terminate()
    const resumed = connect(joinUrl(host, token, { reconnect: true, participantSid: sid }))
    await until("the update", () => resumed.cases().includes("update"))
    expect(resumed.cases()).toEqual(["reconnect", "update"])

    const stranger = connect(joinUrl(host, token, { reconnect: true, participantSid: "PA_unknown" }))
    await until("sent away", () => stranger.closed() !== undefined)
    const leave = stranger.got[0]
    expect(leave?.case === "leave" && leave.value.action).toBe(LeaveRequest_Action.RECONNECT)
    expect(host.server.stats()).toMatchObject({ calls: 1, sockets: 1 })
  })

  it("takes no answer to an earlier offer for the one to its last, which comes after it", async () => {
    const host = await start()
    const token = await host.token("late")
    const pc = makePc()
    let heard = 0
    pc.onTrack.subscribe((track) => track.onReceiveRtp.subscribe(() => void heard++))
    const answerTo = async (signal: Signal): Promise<SessionDescription> => {
      await until("the offer", () => signal.cases().includes("offer"))
      const message = signal.got.find((m) => m.case === "offer")
      const offer = message?.case === "offer" ? message.value : new SessionDescription()
      await pc.setRemoteDescription({ type: "offer", sdp: offer.sdp })
      for (const { connection } of pc.iceTransports) delete connection.stunServer
      await pc.setLocalDescription(await pc.createAnswer())
      for (const transport of pc.iceTransports) transport.start().catch(() => undefined)
      return new SessionDescription({ type: "answer", sdp: pc.localDescription?.sdp ?? "", id: offer.id })
    }
    const url = `${host.url}/rtc?access_token=${token}`
    const first = connect(url)
    await until("the socket", () => first.ws.readyState === WebSocket.OPEN)
    first.send({ case: "answer", value: await answerTo(first) })
    await until("heard", () => heard > 0)
    const join = first.got[0]
    const sid = join?.case === "join" ? (join.value.participant?.sid ?? "") : ""

    const cut = connect(`${url}&reconnect=1&sid=${sid}`)
    const late = await answerTo(cut)
    cut.ws.terminate()
    const last = connect(`${url}&reconnect=1&sid=${sid}`)
    const answer = await answerTo(last)
    for (const value of [late, answer]) last.send({ case: "answer", value })
    await new Promise((resolve) => setTimeout(resolve, 500))
    const before = heard
    await until("heard again", () => heard > before + 10)
  })

  it("evicts the old connection at once when the same client joins in full", async () => {
    const host = await start()
    const token = await host.token("evict")
    const first = await joinWithMedia(host, token)
    await until("the leg", () => host.calls.has("evict"))
    const second = await joinWithMedia(host, token)
    await until("the first is out", () => first.signal.closed() !== undefined)
    const leave = first.signal.got.at(-1)
    expect(leave?.case === "leave" && leave.value.action).toBe(LeaveRequest_Action.DISCONNECT)
    expect(second.sid).not.toBe(first.sid)
    expect(host.server.stats()).toMatchObject({ calls: 1, sockets: 1 })
    expect(host.legsMade()).toBe(1)
  })

  it("loses a leg without signalling after its grace, and one that shows no sign of life after its patience", async () => {
    const host = await start({ timings: { graceMs: 300, silenceMs: 900 } })
    const gone = await joinWithMedia(host, await host.token("gone"))
    await until("the leg", () => host.calls.has("gone"))
    gone.signal.ws.terminate()
    await until("lost", () => host.calls.get("gone")?.closed === "lost", 3000)

    const mute = await joinWithMedia(host, await host.token("mute"))
    await until("the leg", () => host.calls.has("mute"))
    const ping = setInterval(() => mute.signal.send({ case: "ping", value: 1n }), 100)
    await new Promise((resolve) => setTimeout(resolve, 1500))
    expect(host.calls.get("mute")?.closed).toBeUndefined()
    clearInterval(ping)
    mute.stopMedia()
    await until("the call is over", () => host.server.stats().calls === 0, 4000)
    expect(host.calls.get("mute")?.closed).toBe("lost")
  })

  it("hears of a leave after the time in which a full reconnect would come", async () => {
    const host = await start({ timings: { rejoinMs: 100 } })
    const { signal } = await joinWithMedia(host, await host.token("leave"))
    await until("the leg", () => host.calls.has("leave"))
    signal.send({ case: "leave", value: new LeaveRequest() })
    await until("left", () => host.calls.get("leave")?.closed === "left", 3000)
    await until("released", () => host.server.stats().calls === 0)
  })

  it("says leave only once the last message has arrived, however slow the way and busy the process", async () => {
    const host = await start()
    const order: Array<string> = []
    const { channel, pc, signal } = await joinWithMedia(host, await host.token("farewell"))
    channel.onMessage.subscribe((data) => void order.push(lastEvent(data)))
    signal.ws.on("message", (data: Buffer) => {
      if (SignalResponse.fromBinary(data).message.case === "leave") order.push("leave")
    })
    await until("the leg", () => host.calls.has("farewell"))
    await until("data flows", () => channel.readyState === "open")
    const dtls = pc.sctp?.dtlsTransport
    if (dtls === undefined) throw new Error("no data")
    const arrive = dtls.dataReceiver
    dtls.dataReceiver = (data) => void setTimeout(() => arrive(data), 100)
    const busy = setInterval(() => {
      const from = performance.now()
      while (performance.now() - from < 25);
    }, 30)
    closing.push(() => clearInterval(busy))
    host.calls.get("farewell")?.leg.close("agent_hangup")
    await until("out", () => order.includes("leave"), 10_000)
    expect(order).toEqual(["session.ended", "leave"])
  })

  it("says leave only once the last message has arrived when its channel is still opening", async () => {
    const host = await start()
    const { channel, signal } = await joinWithMedia(host, await host.token("opening"))
    const order: Array<string> = []
    channel.onMessage.subscribe((data) => void order.push(lastEvent(data)))
    signal.ws.on("message", (data: Buffer) => {
      if (SignalResponse.fromBinary(data).message.case === "leave") order.push("leave")
    })
    await until("the leg", () => host.calls.has("opening"))
    host.calls.get("opening")?.leg.close("agent_hangup")
    await until("out", () => order.includes("leave"))
    expect(order).toEqual(["session.ended", "leave"])
  })

  it("does not wait for ever for a client that is gone", async () => {
    const host = await start()
    const { pc, signal } = await joinWithMedia(host, await host.token("deaf"))
    await until("the leg", () => host.calls.has("deaf"))
    if (pc.sctp !== null) pc.sctp.dtlsTransport.dataReceiver = () => undefined
    host.calls.get("deaf")?.leg.close("agent_hangup")
    await until("out", () => signal.closed() !== undefined)
    await until("released", () => host.server.stats().calls === 0)
  })

  it("gives a seat back when media never comes", async () => {
    const released: Array<readonly [string, string]> = []
    const host = await start({
      timings: { setupMs: 300 },
      handlers: { onReleased: (...how) => void released.push(how) }
    })
    const signal = connect(joinUrl(host, await host.token("nomedia")))
    await until("the join", () => signal.cases().includes("join"))
    await until("out", () => signal.closed() !== undefined, 3000)
    expect(host.server.stats()).toEqual({ calls: 0, sockets: 0, entering: 0 })
    expect(host.legsMade()).toBe(0)
    expect(released).toEqual([["nomedia", "failed"]])
  })

  it("refuses with a status and words: no token, a bad one, a used one, a full house, an unreadable request", async () => {
    const host = await start({ maxSessions: 1 })
    const used = await host.token("one")
    const refusals: ReadonlyArray<readonly [string, RegExp]> = [
      [`${host.url}/rtc`, /^401 no token/],
      [`${host.url}/rtc?access_token=junk`, /^401 token refused: malformed/],
      [`${host.url}/rtc/v1?access_token=${await host.token("x")}&join_request=____`, /^400/]
    ]
    for (const [url, expected] of refusals) {
      const signal = connect(url)
      await until("refused", () => signal.refused() !== undefined)
      expect(signal.refused()).toMatch(expected)
    }
    const first = connect(joinUrl(host, used))
    await until("the join", () => first.cases().includes("join"))
    const full = connect(joinUrl(host, await host.token("two")))
    await until("refused", () => full.refused() !== undefined)
    expect(full.refused()).toMatch(/^503/)
  })

  it("never says 404, on which the SDKs would try an older path", async () => {
    const host = await start({
      handlers: { admit: async () => ({ refused: { status: 404, message: "no such session" } }) }
    })
    const signal = connect(joinUrl(host, "token"))
    await until("refused", () => signal.refused() !== undefined)
    expect(signal.refused()).toBe("401 no such session")
    const asked = await fetch(`${host.url.replace("ws", "http")}/rtc/v1/validate?access_token=token`)
    expect([asked.status, await asked.text()]).toEqual([401, "no such session"])
  })

  it("tells a browser why, by HTTP, and uses no token up by it", async () => {
    const host = await start()
    const http = host.url.replace("ws", "http")
    const token = await host.token("validate")
    const ask = async (query: string, path = "/rtc/v1/validate") => {
      const response = await fetch(`${http}${path}${query}`)
      return {
        status: response.status,
        text: await response.text(),
        cors: response.headers.get("access-control-allow-origin")
      }
    }
    expect(await ask("?access_token=junk")).toEqual({ status: 401, text: "token refused: malformed", cors: "*" })
    expect(await ask(`?access_token=${token}`)).toMatchObject({ status: 200, cors: "*" })
    expect(await ask(`?access_token=${token}`, "/rtc/validate")).toMatchObject({ status: 200 })
    const bearer = await fetch(`${http}/rtc/validate`, { headers: { authorization: `Bearer ${token}` } })
    expect(bearer.status).toBe(200)
    const signal = connect(joinUrl(host, token))
    await until("the join", () => signal.cases().includes("join"))
    expect(await ask(`?access_token=${token}`)).toMatchObject({ status: 200 })
    expect((await fetch(`${http}/elsewhere`)).status).toBe(404)
  })

  it("survives whatever a stranger sends", async () => {
    const host = await start()
    const join = async (name: string): Promise<Signal> => {
      const signal = connect(joinUrl(host, await host.token(name)))
      await until("the join", () => signal.cases().includes("join"))
      return signal
    }
    const big = await join("big")
    big.ws.send(Buffer.alloc(65 * 1024))
    const noise = await join("noise")
    noise.ws.send(Buffer.from([255, 255, 255, 255, 255]))
    const sdp = await join("sdp")
    sdp.send({
      case: "offer",
      value: new SessionDescription({ type: "offer", sdp: "v=0\r\nm=audio\r\na=ice-ufrag:x\r\n" })
    })
    for (const signal of [big, noise, sdp]) await until("closed", () => signal.closed() !== undefined)
    expect([big.closed(), noise.closed(), sdp.closed()]).toEqual([1009, 1003, 1008])
    const healthy = await join("healthy")
    healthy.send({ case: "ping", value: 1n })
    await until("the pong", () => healthy.cases().includes("pong"))
  })

  it("leaves nothing behind: ports, sockets and timers are free after every call", async () => {
    const host = await start({ timings: { rejoinMs: 50 } })
    const round = async (name: string): Promise<void> => {
      const { signal } = await joinWithMedia(host, await host.token(name))
      await until("the leg", () => host.calls.has(name))
      host.calls.get(name)?.leg.close("agent_hangup")
      await until("out", () => signal.closed() !== undefined)
      await closing.pop()?.()
      await closing.pop()?.()
    }
    await round("warm")
    await until("released", () => host.server.stats().calls === 0)
    await until("no port is open", () => udp() === 0)
    const before = resources()
    for (let i = 0; i < 12; i++) await round(`n${i}`)
    await until("released", () => host.server.stats().calls === 0)
    await until(`no more than ${before} handles`, () => resources() <= before + 1, 5000)
    await until("no port is open", () => udp() === 0)
  }, 60_000)
})
