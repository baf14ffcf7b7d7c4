// The caller's microphone in a room: on and off, which device, how loud. What `getUserMedia` refuses is told
// apart from a connection that broke while the sound was being published.
import { ConnectionState, type Room, RoomEvent, Track } from "livekit-client"
import { AudioMeter } from "./AudioMeter.ts"
import { AgentSessionError, wordsOf } from "./AgentSessionError.ts"

const reconnectMs = 10_000

/** The microphone of a session. */
export class Microphone {
  readonly meter = new AudioMeter()
  readonly #room: Room

  constructor(room: Room) {
    this.#room = room
    room.on(RoomEvent.LocalTrackPublished, ({ track }) => {
      if (track?.source === Track.Source.Microphone) this.meter.watch(track.mediaStreamTrack)
    })
  }

  get on(): boolean {
    return this.#room.localParticipant.isMicrophoneEnabled
  }

  /** Rejects with `mic_permission_denied` when the browser or the user refuses, else `connection_failed`. */
  async set(enabled: boolean): Promise<void> {
    const { localParticipant } = this.#room
    try {
      await localParticipant.setMicrophoneEnabled(enabled).catch(async (cause: unknown) => {
        // A reconnect in the middle of publishing fails it: once more when the connection is back.
        if (isRefusal(cause)) throw cause
        await this.#connectedAgain()
        await localParticipant.setMicrophoneEnabled(enabled)
      })
    } catch (cause) {
      const code = isRefusal(cause) ? "mic_permission_denied" : "connection_failed"
      throw new AgentSessionError(code, wordsOf(cause), { cause })
    }
  }

  /** Resolves at the latest after a bound: what is tried then says itself what is wrong. */
  #connectedAgain(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        this.#room.off(RoomEvent.ConnectionStateChanged, changed)
        resolve()
      }
      const changed = (state: ConnectionState): void => {
        if (state === ConnectionState.Connected) done()
      }
      const timer = setTimeout(done, this.#room.state === ConnectionState.Connected ? 500 : reconnectMs)
      this.#room.on(RoomEvent.ConnectionStateChanged, changed)
    })
  }
}

/** Throws `device_change_failed` where the browser cannot. */
export const switchDevice = async (room: Room, kind: MediaDeviceKind, deviceId: string): Promise<void> => {
  const done = await room.switchActiveDevice(kind, deviceId).catch((cause: unknown) => {
    throw new AgentSessionError("device_change_failed", wordsOf(cause), { cause })
  })
  if (!done) throw new AgentSessionError("device_change_failed", "the device could not be used")
}

/** What `getUserMedia` fails with; everything else is about sending the sound. */
const refusals: ReadonlySet<string> = new Set([
  "NotAllowedError",
  "NotFoundError",
  "NotReadableError",
  "OverconstrainedError",
  "SecurityError"
])
const isRefusal = (cause: unknown): boolean => cause instanceof DOMException && refusals.has(cause.name)
