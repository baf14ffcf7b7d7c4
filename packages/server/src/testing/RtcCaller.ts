// A caller on the unmodified LiveKit client for Node: speaks with the embedded synthesizer into a microphone
// that never stops, hears the agent, reads captions. For tests and benches.
import {
  AudioFrame,
  AudioSource,
  AudioStream,
  dispose,
  LocalAudioTrack,
  Room,
  RoomEvent,
  TrackPublishOptions,
  TrackSource
} from "@livekit/rtc-node"
import { speakToWav } from "@parley/speech/testing/speakToWav"

const rate = 16_000
const frameSamples = rate / 100
/** Louder than comfort noise and codec artefacts. */
const audible = 500

export interface Caption {
  readonly identity: string
  readonly segment: string
  readonly final: boolean
  readonly text: string
}

export interface RtcCaller {
  readonly room: Room
  /** Resolves when the last voiced sample was handed to the microphone, with that moment (performance.now). */
  readonly say: (text: string) => Promise<number>
  /** Agent audio: moments (performance.now) at which an audible 10 ms was heard, oldest first. */
  readonly heard: ReadonlyArray<number>
  /** All that was heard, mono 16 kHz. */
  readonly recording: () => Int16Array
  readonly captions: ReadonlyArray<Caption>
  /** How often the agent began to caption a segment: a word of it counts as heard, as the record will say. */
  readonly segmentsHeard: () => number
  readonly events: ReadonlyArray<Record<string, unknown>>
  readonly state: () => string
  readonly send: (event: Record<string, unknown>) => Promise<void>
  readonly leave: () => Promise<void>
}

export const joinCall = async (
  ticket: { readonly rtc_url: string; readonly token: string },
  voice = "rms"
): Promise<RtcCaller> => {
  const room = new Room()
  const heard: Array<number> = []
  const recorded: Array<Int16Array> = []
  const captions: Array<Caption> = []
  let segmentsHeard = 0
  const events: Array<Record<string, unknown>> = []
  room.on(RoomEvent.TrackSubscribed, (track) => {
    void (async () => {
      for await (const frame of new AudioStream(track, rate, 1)) {
        recorded.push(frame.data.slice())
        if (frame.data.some((sample) => Math.abs(sample) > audible)) heard.push(performance.now())
      }
    })().catch(() => undefined)
  })
  room.on(RoomEvent.DataReceived, (payload, _participant, _kind, topic) => {
    if (topic === "agent-event") events.push(JSON.parse(new TextDecoder().decode(payload)) as Record<string, unknown>)
  })
  room.registerTextStreamHandler("lk.transcription", async (reader, { identity }) => {
    if (identity.startsWith("agent")) segmentsHeard++
    const attributes = reader.info.attributes ?? {}
    const text = await reader.readAll().catch(() => undefined)
    if (text === undefined) return
    const segment = attributes["lk.segment_id"] ?? ""
    captions.push({ identity, segment, text, final: attributes["lk.transcription_final"] === "true" })
  })
  await room.connect(ticket.rtc_url, ticket.token, { autoSubscribe: true, dynacast: false })
  const source = new AudioSource(rate, 1, 40)
  const track = LocalAudioTrack.createAudioTrack("microphone", source)
  await room.localParticipant?.publishTrack(track, new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE }))

  let speech: Int16Array = new Int16Array(0)
  let at = 0
  let said: ((moment: number) => void) | undefined
  const leaving = new AbortController()
  const microphone = (async () => {
    let due = performance.now()
    while (!leaving.signal.aborted) {
      const frame = new Int16Array(frameSamples)
      if (at < speech.length) {
        frame.set(speech.subarray(at, at + frameSamples))
        at += frameSamples
        if (at >= speech.length) said?.(performance.now())
      }
      await source.captureFrame(new AudioFrame(frame, rate, 1, frameSamples))
      due = Math.max(due + 10, performance.now() - 50)
      await new Promise((tick) => setTimeout(tick, Math.max(0, due - performance.now())))
    }
  })().catch(() => undefined)

  return {
    room,
    say: (text) =>
      new Promise((resolve) => {
        said = resolve
        speech = trimmed(speakToWav(text, voice))
        at = 0
      }),
    heard,
    recording: () => joined(recorded),
    captions,
    segmentsHeard: () => segmentsHeard,
    events,
    state: () => [...room.remoteParticipants.values()][0]?.attributes["lk.agent.state"] ?? "",
    send: async (event) => {
      const bytes = new TextEncoder().encode(JSON.stringify(event))
      await room.localParticipant?.publishData(bytes, { reliable: true, topic: "client-event" })
    },
    leave: async () => {
      leaving.abort()
      await microphone
      await room.disconnect()
      await source.close()
    }
  }
}

/** Ends the process's use of the client for good. */
export const closeRtc = (): Promise<void> => dispose()

/** Without the silence at its ends, so that "the last sample" is a voiced one. */
const trimmed = (samples: Int16Array): Int16Array => {
  let from = 0
  let to = samples.length
  while (from < to && Math.abs(samples[from] ?? 0) < 400) from++
  while (to > from && Math.abs(samples[to - 1] ?? 0) < 400) to--
  return samples.subarray(from, to)
}

/** Waits until `check` holds; throws with `what` after `ms`. */
export const until = async (what: string, check: () => boolean, ms = 20_000): Promise<void> => {
  const limit = performance.now() + ms
  while (!check()) {
    if (performance.now() > limit) throw new Error(`did not happen in ${ms} ms: ${what}`)
    await new Promise((tick) => setTimeout(tick, 20))
  }
}

const joined = (frames: ReadonlyArray<Int16Array>): Int16Array => {
  const all = new Int16Array(frames.reduce((length, frame) => length + frame.length, 0))
  let at = 0
  for (const frame of frames) {
    all.set(frame, at)
    at += frame.length
  }
  return all
}
