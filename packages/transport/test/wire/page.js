// Runs in the browser of the wire tests: the unmodified livekit-client, and ears that cannot be fooled (an
// analyser without smoothing, and the receiver's own packet counter).
import { Room, RoomEvent, Track } from "livekit-client"

const state = { reconnected: 0, overlapped: 0, disconnected: [], texts: [], events: [], errors: [] }
let room
let analyser
let agentTrack

/**
 * The client makes its next offer while it is still setting its first, which it does in the wild when a timer
 * falls into those few milliseconds.
 */
const overlapOffers = () => {
  const { setLocalDescription } = RTCPeerConnection.prototype
  RTCPeerConnection.prototype.setLocalDescription = function (description) {
    RTCPeerConnection.prototype.setLocalDescription = setLocalDescription
    const setting = setLocalDescription.call(this, description)
    room.engine.pcManager.publisher.createAndSendOffer().then(
      () => state.overlapped++,
      (error) => state.errors.push(String(error))
    )
    return setting
  }
}

const start = async ({ mic, overlap, single, token, url }) => {
  if (overlap) overlapOffers()
  room = new Room({ singlePeerConnection: single })
  room.on(RoomEvent.Reconnected, () => state.reconnected++)
  room.on(RoomEvent.Disconnected, (reason) => state.disconnected.push(reason))
  room.on(RoomEvent.DataReceived, (payload, _participant, _kind, topic) => {
    if (topic === "agent-event") state.events.push(JSON.parse(new TextDecoder().decode(payload)))
  })
  room.registerTextStreamHandler("lk.transcription", (reader, { identity }) => {
    const entry = { identity, text: "", ended: false, attributes: { ...reader.info.attributes } }
    state.texts.push(entry)
    void (async () => {
      for await (const chunk of reader) entry.text += chunk
      entry.ended = true
    })().catch((error) => state.errors.push(String(error)))
  })
  room.on(RoomEvent.TrackSubscribed, (track) => {
    if (track.kind !== Track.Kind.Audio) return
    agentTrack = track
    document.body.append(track.attach())
    const context = new AudioContext()
    analyser = new AnalyserNode(context, { fftSize: 8192, smoothingTimeConstant: 0 })
    context.createMediaStreamSource(new MediaStream([track.mediaStreamTrack])).connect(analyser)
  })
  const began = performance.now()
  await room.connect(url, token)
  const connectMs = performance.now() - began
  if (mic) await enableMic()
  return { connectMs, publishMs: performance.now() - began - connectMs }
}

const enableMic = () =>
  room.localParticipant.setMicrophoneEnabled(true, {
    echoCancellation: false,
    noiseSuppression: false,
    autoGainControl: false
  })

/** Amplitude of one frequency in the last 170 ms heard. */
const level = (hz) => {
  if (analyser === undefined) return 0
  const samples = new Float32Array(analyser.fftSize)
  analyser.getFloatTimeDomainData(samples)
  let re = 0
  let im = 0
  for (let i = 0; i < samples.length; i++) {
    re += samples[i] * Math.cos((2 * Math.PI * hz * i) / analyser.context.sampleRate)
    im += samples[i] * Math.sin((2 * Math.PI * hz * i) / analyser.context.sampleRate)
  }
  return (2 * Math.hypot(re, im)) / samples.length
}

const packetsReceived = async () => {
  const report = await agentTrack?.getRTCStatsReport()
  let packets = 0
  report?.forEach((entry) => {
    if (entry.type === "inbound-rtp") packets += entry.packetsReceived
  })
  return packets
}

const agent = () => {
  const participant = [...room.remoteParticipants.values()][0]
  return participant && { isAgent: participant.isAgent, attributes: { ...participant.attributes } }
}

const publish = (message) =>
  room.localParticipant.publishData(new TextEncoder().encode(JSON.stringify(message)), {
    reliable: true,
    topic: "client-event"
  })

globalThis.wire = {
  state: () => state,
  start,
  enableMic,
  level,
  packetsReceived,
  agent,
  publish,
  simulate: (scenario) => room.simulateScenario(scenario),
  mute: (muted) => room.localParticipant.setMicrophoneEnabled(!muted),
  unpublish: async () => {
    const publication = room.localParticipant.getTrackPublication(Track.Source.Microphone)
    await room.localParticipant.unpublishTrack(publication.track, true)
  },
  rpc: () => {
    const [identity] = [...room.remoteParticipants.keys()]
    return room.localParticipant
      .performRpc({ destinationIdentity: identity, method: "none", payload: "" })
      .catch(String)
  },
  leave: () => room.disconnect()
}
