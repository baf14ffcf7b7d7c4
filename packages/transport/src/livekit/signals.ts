// The messages of the LiveKit signalling protocol that we send, made from what a connection knows. Pure.
import {
  Codec,
  type AddTrackRequest,
  ICEServer,
  JoinResponse,
  MediaSectionsRequirement,
  ParticipantInfo_State,
  ParticipantUpdate,
  ReconnectResponse,
  RequestResponse,
  RequestResponse_Reason,
  Room,
  ServerInfo,
  type SignalResponse
} from "@livekit/protocol"
import type { Agent, User } from "./Participants.ts"

type Signal = SignalResponse["message"]

/** A STUN or TURN server that clients are told of. */
export interface IceServer {
  readonly urls: ReadonlyArray<string>
  readonly username?: string
  readonly credential?: string
}

/** Seconds; a client pings at this interval and gives up after that time. */
const pingInterval = 5
const pingTimeout = 15
/** An empty version is refused by the SDKs. Protocol 16: v0 and v1 signalling, one or two peer connections. */
const serverInfo = new ServerInfo({ version: "1.9.0", protocol: 16, nodeId: "parley" })

const iceServersOf = (servers: ReadonlyArray<IceServer>): Array<ICEServer> =>
  servers.map(({ credential = "", urls, username = "" }) => new ICEServer({ urls: [...urls], username, credential }))

/** The first message on a new socket. */
export const joined = (
  room: { readonly sid: string; readonly name: string },
  user: User,
  agent: Agent,
  mode: "single" | "dual",
  iceServers: ReadonlyArray<IceServer>
): Signal => ({
  case: "join",
  value: new JoinResponse({
    room: new Room({ sid: room.sid, name: room.name, numParticipants: 2 }),
    participant: user.info(ParticipantInfo_State.JOINED),
    otherParticipants: [agent.info()],
    serverVersion: serverInfo.version,
    serverInfo,
    pingInterval,
    pingTimeout,
    subscriberPrimary: mode === "dual",
    fastPublish: true,
    enabledPublishCodecs: [new Codec({ mime: "audio/opus" })],
    iceServers: iceServersOf(iceServers)
  })
})

/** The first message on the socket of a resume. `lastMessageSeq`: the last of the client's data packets taken. */
export const reconnected = (iceServers: ReadonlyArray<IceServer>, lastMessageSeq: number): Signal => ({
  case: "reconnect",
  value: new ReconnectResponse({ serverInfo, iceServers: iceServersOf(iceServers), lastMessageSeq })
})

/** Tells the client what changed about participants. */
export const participants = (...changed: ReadonlyArray<ReturnType<User["info"]>>): Signal => ({
  case: "update",
  value: new ParticipantUpdate({ participants: [...changed] })
})

/** Asks the client for an offer with a section that our voice can go out on. */
export const sectionNeeded: Signal = {
  case: "mediaSectionsRequirement",
  value: new MediaSectionsRequirement({ numAudios: 1 })
}

/** Only audio is taken (UNSUPPORTED_TYPE). */
export const trackRefused = (request: AddTrackRequest): Signal => ({
  case: "requestResponse",
  value: new RequestResponse({
    reason: RequestResponse_Reason.UNSUPPORTED_TYPE,
    message: "only audio can be published",
    request: { case: "addTrack", value: request }
  })
})

/** A request of the client, by its id, was carried out. */
export const requestDone = (requestId: number): Signal => ({
  case: "requestResponse",
  value: new RequestResponse({ requestId, reason: RequestResponse_Reason.OK })
})
