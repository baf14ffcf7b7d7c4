// The two participants of a call as LiveKit describes them: the user, who joined, and the agent, who is always
// there already. SIDs must start with PA_ and TR_: the Rust clients check.
import {
  AudioTrackFeature,
  DisconnectReason,
  ParticipantInfo,
  ParticipantInfo_Kind,
  ParticipantInfo_State,
  ParticipantPermission,
  TrackInfo,
  TrackSource,
  TrackType,
  type AddTrackRequest
} from "@livekit/protocol"
import { agentStateAttribute, type AgentState } from "@parley/contract/ClientEvent"
import type { EndReason } from "@parley/contract/EndReason"
import { randomBytes } from "node:crypto"

/** A random LiveKit id of that kind, letters and digits only after the prefix. */
export const newSid = (prefix: "PA" | "TR" | "RM"): string =>
  `${prefix}_${randomBytes(9).toString("base64url").replace(/[-_]/g, "x")}`

/** The agent as a participant: present from the start, with one audio track. */
export class Agent {
  readonly sid = newSid("PA")
  readonly trackSid = newSid("TR")
  readonly identity: string
  readonly name: string
  state: AgentState = "initializing"
  #version = 0

  constructor(name: string) {
    this.name = name
    this.identity = `agent-${this.sid.slice(3)}`
  }

  /** The media stream its voice is announced with; the Rust client reads the track from it. */
  get streamId(): string {
    return `${this.sid}|${this.trackSid}`
  }

  info(state: ParticipantInfo_State = ParticipantInfo_State.ACTIVE): ParticipantInfo {
    return new ParticipantInfo({
      sid: this.sid,
      identity: this.identity,
      name: this.name,
      state,
      kind: ParticipantInfo_Kind.AGENT,
      version: ++this.#version,
      joinedAt: BigInt(Math.floor(Date.now() / 1000)),
      isPublisher: true,
      permission: new ParticipantPermission({
        canPublish: true,
        canSubscribe: true,
        canPublishData: true,
        agent: true
      }),
      attributes: { [agentStateAttribute]: this.state },
      tracks: [
        new TrackInfo({
          sid: this.trackSid,
          type: TrackType.AUDIO,
          name: "agent-voice",
          source: TrackSource.MICROPHONE,
          mimeType: "audio/opus",
          stream: this.sid,
          disableRed: true
        })
      ]
    })
  }
}

/** The user as a participant, with at most eight tracks. */
export class User {
  readonly sid = newSid("PA")
  readonly identity: string
  name: string
  metadata = ""
  attributes: Record<string, string> = {}
  #tracks: Array<TrackInfo> = []
  #version = 0

  constructor(identity: string, name: string) {
    this.identity = identity
    this.name = name
  }

  /** The microphone captions refer to: the latest one. */
  get trackSid(): string | undefined {
    return this.#tracks.at(-1)?.sid
  }

  publish(request: AddTrackRequest): TrackInfo {
    const track = new TrackInfo({
      sid: newSid("TR"),
      type: TrackType.AUDIO,
      name: request.name,
      muted: request.muted,
      source: request.source,
      disableDtx: request.disableDtx,
      disableRed: true,
      stereo: request.stereo,
      stream: request.stream,
      mimeType: "audio/opus",
      audioFeatures: request.audioFeatures.filter((f) => f !== AudioTrackFeature.TF_STEREO)
    })
    this.#tracks = [...this.#tracks, track].slice(-maxTracks)
    return track
  }

  mute(sid: string, muted: boolean): void {
    const track = this.#tracks.find((t) => t.sid === sid)
    if (track !== undefined) track.muted = muted
  }

  info(state: ParticipantInfo_State = ParticipantInfo_State.ACTIVE): ParticipantInfo {
    return new ParticipantInfo({
      sid: this.sid,
      identity: this.identity,
      name: this.name,
      metadata: this.metadata,
      attributes: this.attributes,
      state,
      version: ++this.#version,
      joinedAt: BigInt(Math.floor(Date.now() / 1000)),
      isPublisher: this.#tracks.length > 0,
      permission: new ParticipantPermission({
        canPublish: true,
        canSubscribe: true,
        canPublishData: true,
        canUpdateMetadata: true
      }),
      tracks: this.#tracks
    })
  }
}

const maxTracks = 8

/** The nearest word LiveKit clients show for why a call ended; the exact one travels in `session.ended`. */
export const disconnectReason = (reason: EndReason): DisconnectReason => {
  switch (reason) {
    case "user_hangup":
      return DisconnectReason.CLIENT_INITIATED
    case "heartbeat_timeout":
    case "room_join_timeout":
      return DisconnectReason.CONNECTION_TIMEOUT
    case "internal_error":
    case "llm_endpoint_failure":
    case "agent_join_timeout":
      return DisconnectReason.AGENT_ERROR
    case "dial_failed":
      return DisconnectReason.SIP_TRUNK_FAILURE
    case "agent_hangup":
    case "escalated":
    case "conversation_timeout":
    case "cancelled":
      return DisconnectReason.ROOM_DELETED
  }
}
