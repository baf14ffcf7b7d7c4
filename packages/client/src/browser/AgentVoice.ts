// The agent's voice on the page: plays what is subscribed, at a volume, with a meter.
import { type RemoteTrack, type Room, RoomEvent, Track } from "livekit-client"
import { AudioMeter } from "./AudioMeter.ts"

/** Plays the agent on the page. */
export class AgentVoice {
  readonly meter = new AudioMeter()
  readonly #elements = new Set<HTMLMediaElement>()
  #volume = 1

  constructor(room: Room) {
    room.on(RoomEvent.TrackSubscribed, (track) => this.#play(track))
  }

  /** 0 to 1. */
  setVolume(volume: number): void {
    this.#volume = Math.min(1, Math.max(0, volume))
    for (const element of this.#elements) element.volume = this.#volume
  }

  close(): void {
    for (const element of this.#elements) element.remove()
    this.#elements.clear()
    this.meter.close()
  }

  #play(track: RemoteTrack): void {
    if (track.kind !== Track.Kind.Audio) return
    const element = track.attach()
    element.volume = this.#volume
    element.style.display = "none"
    document.body.append(element)
    this.#elements.add(element)
    this.meter.watch(track.mediaStreamTrack)
  }
}
