// The data of one connection in the words of the conversation: captions, events and answers of the agent out, events and
// digits of the client in. `DataLine` beneath it cares for order and repetition.
import { DataPacket, type SyncState, UserPacket } from "@livekit/protocol"
import { agentTopic, type AgentEvent } from "@parley/contract/ClientEvent"
import type { LegMessage } from "@parley/engine/leg/Leg"
import type { RTCDataChannel } from "werift"
import type { WebRtcLeg } from "../webrtc/WebRtcLeg.ts"
import { acceptRpc, refuseRpc, type ClientData } from "./ClientData.ts"
import { DataLine } from "./DataLine.ts"
import type { Agent, User } from "./Participants.ts"
import type { Speaker, Transcripts } from "./Transcripts.ts"

/** Whose data it is. */
export interface ConversationDataOwner {
  readonly leg: WebRtcLeg
  readonly agent: Agent
  readonly transcripts: Transcripts
  /** Whether a message with this id has not been taken before, over this connection or an earlier one. */
  readonly isNewMessage: (messageId: string) => boolean
}

/** The data of one connection. */
export class ConversationData {
  readonly #owner: ConversationDataOwner
  readonly #user: User
  readonly #line = new DataLine((data) => this.#take(data))

  constructor(owner: ConversationDataOwner, user: User) {
    this.#owner = owner
    this.#user = user
  }

  /** The last of the client's packets taken. */
  get lastSequence(): number {
    return this.#line.lastSequence
  }

  listen(channel: RTCDataChannel): void {
    this.#line.listen(channel)
  }

  /** Sends over this channel from now on. */
  use(channel: RTCDataChannel): void {
    this.#line.use(channel)
  }

  sync(state: SyncState): void {
    this.#line.sync(state)
  }

  /** The captions that are still open, from their start: for a client that has just joined. */
  reopen(): void {
    this.#line.send(this.#owner.transcripts.reopen(this.#agentSpeaker()))
  }

  /** Captions and events; a state is no data, but an attribute of the agent. */
  tell(message: Exclude<LegMessage, { readonly _tag: "State" }>): void {
    const { transcripts } = this.#owner
    switch (message._tag) {
      case "UserTranscript": {
        const speaker = { identity: this.#user.identity, sid: this.#user.sid, trackSid: this.#user.trackSid }
        return this.#line.send(transcripts.user(speaker, message.segmentId, message.text, message.final))
      }
      case "AgentDelta":
        return this.#line.send(transcripts.agentDelta(this.#agentSpeaker(), message.segmentId, message.delta))
      case "AgentDone":
        return this.#line.send(transcripts.agentDone(this.#agentSpeaker(), message.segmentId))
      case "Event":
        return this.#line.send([this.#eventPacket(message.event)])
    }
  }

  /** Resolves once the client has what it was told, within a third of a second or so. */
  arrived(): Promise<void> {
    return this.#line.arrived()
  }

  #take(data: ClientData): void {
    const { leg } = this.#owner
    switch (data._tag) {
      case "Event":
        return leg.takeEvent(data.event)
      case "Digit":
        return leg.takeDigit(data.digit)
      case "EventCall": {
        if (data.event !== undefined && this.#owner.isNewMessage(data.messageId)) leg.takeEvent(data.event)
        return this.#line.send(acceptRpc(data.id).map((value) => this.#agentPacket(value)))
      }
      case "Rpc":
        return this.#line.send(refuseRpc(data.id).map((value) => this.#agentPacket(value)))
    }
  }

  #eventPacket(event: AgentEvent): DataPacket {
    const payload = new TextEncoder().encode(JSON.stringify(event))
    return this.#agentPacket({ case: "user", value: new UserPacket({ topic: agentTopic, payload }) })
  }

  #agentPacket(value: DataPacket["value"]): DataPacket {
    const { identity, sid } = this.#owner.agent
    return new DataPacket({ participantIdentity: identity, participantSid: sid, value })
  }

  #agentSpeaker(): Speaker {
    const { identity, sid, trackSid } = this.#owner.agent
    return { identity, sid, trackSid }
  }
}
