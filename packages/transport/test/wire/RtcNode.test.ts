// The unmodified Rust-based SDK against the server, in both modes of its signalling.
import {
  AudioFrame,
  AudioSource,
  AudioStream,
  LocalAudioTrack,
  Room,
  RoomEvent,
  TrackPublishOptions,
  TrackSource,
  type RoomOptions
} from "@livekit/rtc-node"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { agentHz, agentLevel, startHost, type Host, type HostCall } from "./Host.ts"
import { makeTone, Recent, until } from "./tone.ts"

const micHz = 440
const micLevel = 0.5
/** SimulateScenarioKind of the SDK, which does not export it. */
const signalReconnect = 0
const fullReconnect = 7

interface Client {
  readonly room: Room
  readonly heard: Recent
  readonly texts: Array<{
    readonly identity: string
    readonly text: string
    readonly attributes: Record<string, string>
  }>
  readonly events: Array<unknown>
  readonly reasons: Array<number>
  readonly reconnected: () => number
  readonly close: () => Promise<void>
}

const join = async (host: Host, sessionId: string, single: boolean): Promise<Client> => {
  const room = new Room()
  const heard = new Recent(48_000)
  const texts: Client["texts"] = []
  const events: Array<unknown> = []
  const reasons: Array<number> = []
  let reconnected = 0
  const streams: Array<AudioStream> = []
  room.on(RoomEvent.TrackSubscribed, (track) => {
    const stream = new AudioStream(track, 48_000, 1)
    streams.push(stream)
    void (async () => {
      for await (const frame of stream) heard.push(frame.data)
    })().catch(() => undefined)
  })
  room.on(RoomEvent.DataReceived, (payload, _participant, _kind, topic) => {
    if (topic === "agent-event") events.push(JSON.parse(new TextDecoder().decode(payload)))
  })
  room.on(RoomEvent.Disconnected, (reason) => void reasons.push(reason))
  room.on(RoomEvent.Reconnected, () => void reconnected++)
  room.registerTextStreamHandler("lk.transcription", async (reader, { identity }) => {
    // A stream that a full reconnect cut in two fails here and begins again.
    const text = await reader.readAll().catch(() => undefined)
    if (text !== undefined) texts.push({ identity, text, attributes: { ...reader.info.attributes } })
  })
  const options: Partial<RoomOptions> & { singlePeerConnection: boolean } = {
    autoSubscribe: true,
    dynacast: false,
    singlePeerConnection: single
  }
  await room.connect(host.url, await host.token(sessionId), options as RoomOptions)

  const source = new AudioSource(48_000, 1)
  const track = LocalAudioTrack.createAudioTrack("mic", source)
  await room.localParticipant?.publishTrack(track, new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE }))
  const tone = makeTone(48_000, micHz, micLevel)
  const hush = new AbortController()
  const talk = (async () => {
    while (!hush.signal.aborted) await source.captureFrame(new AudioFrame(tone(480), 48_000, 1, 480))
  })().catch(() => undefined)
  return {
    room,
    heard,
    texts,
    events,
    reasons,
    reconnected: () => reconnected,
    close: async () => {
      hush.abort()
      await talk
      await room.disconnect()
      await source.close()
    }
  }
}

const callOf = async (host: Host, sessionId: string): Promise<HostCall> => {
  await until("the leg is handed over", () => host.calls.has(sessionId))
  const call = host.calls.get(sessionId)
  if (call === undefined) throw new Error("no call")
  return call
}

const bothHear = async (call: HostCall, client: Client): Promise<void> => {
  call.ears.clear()
  client.heard.clear()
  await until("the agent hears the microphone", () => Math.abs(call.ears.level(micHz) - micLevel) < 0.1)
  await until("the client hears the agent", () => Math.abs(client.heard.level(agentHz) - agentLevel) < 0.08)
}

describe.each([
  { mode: "single", single: true },
  { mode: "dual", single: false }
])("rtc-node, $mode peer connection", ({ mode, single }) => {
  let host: Host
  beforeAll(async () => {
    host = await startHost()
  })
  afterAll(() => host.close())

  it("talks, types, reads captions, and leaves", async () => {
    const sessionId = `talk-${mode}`
    const client = await join(host, sessionId, single)
    const call = await callOf(host, sessionId)
    await bothHear(call, client)

    const agent = [...client.room.remoteParticipants.values()][0]
    expect(agent?.kind).toBe(4)
    await until("the agent's state", () => agent?.attributes["lk.agent.state"] === "listening")
    call.leg.tell({ _tag: "State", state: "thinking" })
    await until("the next state", () => agent?.attributes["lk.agent.state"] === "thinking")

    const publish = (message: unknown, topic = "client-event") =>
      client.room.localParticipant?.publishData(new TextEncoder().encode(JSON.stringify(message)), {
        reliable: true,
        topic
      })
    await publish({ type: "something.newer" })
    await publish({ type: "user.message", text: "hello" }, "another-topic")
    await publish({ type: "user.message", text: "hello" })
    await until("the typed message", () => call.events.length > 0)
    expect(call.events).toEqual([{ type: "user.message", text: "hello" }])
    call.leg.tell({ _tag: "Event", event: { type: "error", code: "provider_error" } })
    await until("the agent's event", () => client.events.length > 0)
    expect(client.events).toEqual([{ type: "error", code: "provider_error" }])
    await client.room.localParticipant?.publishDtmf(5, "5")
    await until("the digit", () => call.digits.length > 0)

    call.leg.tell({ _tag: "UserTranscript", segmentId: "u1", text: "hel", final: false })
    call.leg.tell({ _tag: "UserTranscript", segmentId: "u1", text: "hello you", final: true })
    for (const delta of ["Good ", "day, ", "Zoë."]) call.leg.tell({ _tag: "AgentDelta", segmentId: "a1", delta })
    call.leg.tell({ _tag: "AgentDone", segmentId: "a1" })
    await until("the captions", () => client.texts.length === 3)
    expect(client.texts.map(({ text }) => text).sort()).toEqual(["Good day, Zoë.", "hel", "hello you"])
    const final = client.texts.find(({ text }) => text === "hello you")
    expect(final?.identity).toBe(`user-${sessionId}`)
    expect(final?.attributes).toMatchObject({ "lk.segment_id": "u1", "lk.transcription_final": "true" })
    expect(final?.attributes["lk.transcribed_track_id"]).toMatch(/^TR_/)
    expect(client.texts.find(({ text }) => text.startsWith("Good"))?.identity).toBe(agent?.identity)

    const refused = await client.room.localParticipant
      ?.performRpc({ destinationIdentity: agent?.identity ?? "", method: "nothing", payload: "" })
      .catch((error: unknown) => error)
    expect(String(refused)).toMatch(/not supported/i)

    await client.close()
    await until("the leg hears of the leave", () => call.closed === "left")
    await until("everything is released", () => host.server.stats().calls === 0)
  })

  it("is heard again, both ways, after the network cut every socket, three times", async () => {
    const sessionId = `resume-${mode}`
    const client = await join(host, sessionId, single)
    const call = await callOf(host, sessionId)
    await bothHear(call, client)
    for (let round = 0; round < 3; round++) {
      const before = client.reconnected()
      expect(host.cutSockets()).toBeGreaterThan(0)
      call.leg.tell({ _tag: "Event", event: { type: "session.ended", reason: `round ${round}` } })
      await until("the client resumed", () => client.reconnected() > before, 15_000)
      await bothHear(call, client)
      await until("what was told meanwhile", () => client.events.length === round + 1)
    }
    expect(client.events).toEqual([0, 1, 2].map((n) => ({ type: "session.ended", reason: `round ${n}` })))
    expect(call.closed).toBeUndefined()
    expect(host.legsMade()).toBe(2)
    await client.close()
    await until("everything is released", () => host.server.stats().calls === 0)
  }, 60_000)

  it("keeps its leg over the SDK's own reconnects, full ones too", async () => {
    const sessionId = `again-${mode}`
    const client = await join(host, sessionId, single)
    const call = await callOf(host, sessionId)
    const made = host.legsMade()
    await bothHear(call, client)
    for (const scenario of [signalReconnect, fullReconnect]) {
      const before = client.reconnected()
      call.leg.tell({ _tag: "AgentDelta", segmentId: `s${scenario}`, delta: "said before, " })
      await client.room.simulateScenario(scenario)
      await until("the client is back", () => client.reconnected() > before, 15_000)
      await bothHear(call, client)
      call.leg.tell({ _tag: "AgentDelta", segmentId: `s${scenario}`, delta: "said after" })
      call.leg.tell({ _tag: "AgentDone", segmentId: `s${scenario}` })
      await until("the whole caption", () => client.texts.some(({ text }) => text === "said before, said after"))
      client.texts.length = 0
    }
    expect(host.legsMade()).toBe(made)
    expect(call.closed).toBeUndefined()
    expect(host.server.stats()).toMatchObject({ calls: 1, sockets: 1 })
    await client.close()
  }, 60_000)

  it("is told why the agent hung up", async () => {
    const sessionId = `hangup-${mode}`
    const client = await join(host, sessionId, single)
    const call = await callOf(host, sessionId)
    call.leg.close("agent_hangup")
    await until("the client is out", () => client.reasons.length > 0)
    expect(client.reasons[0]).toBe(5)
    expect(client.events).toContainEqual({ type: "session.ended", reason: "agent_hangup" })
    await until("everything is released", () => host.server.stats().calls === 0)
    expect(call.closed).toBeUndefined()
    await client.close()
  })
})
