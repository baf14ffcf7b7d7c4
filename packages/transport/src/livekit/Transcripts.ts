// Captions as LiveKit text streams on topic `lk.transcription`. What the user said is replaced: each update is
// a whole stream of its own under the user's identity, with the same segment id. What the agent says grows: one
// stream per segment whose chunks are appended; its end makes it final. Belongs to the call, not to a
// connection: after a full reconnect the open segments begin again with all that was said so far.
import {
  DataPacket,
  DataStream_Chunk,
  DataStream_Header,
  DataStream_TextHeader,
  DataStream_Trailer
} from "@livekit/protocol"
import { transcriptTopic } from "@parley/contract/ClientEvent"
import { randomUUID } from "node:crypto"

/** Whose caption it is; `trackSid` where its voice is a track. */
export interface Speaker {
  readonly identity: string
  readonly sid: string
  readonly trackSid: string | undefined
}

/** Chunks stay below what every SCTP stack passes in one message. */
const maxChunkBytes = 15_000

interface OpenSegment {
  readonly streamId: string
  chunks: number
  text: string
}

/** Captions of one call as data packets, in the order in which they are to be sent. */
export class Transcripts {
  readonly #open = new Map<string, OpenSegment>()

  user(speaker: Speaker, segmentId: string, text: string, final: boolean): Array<DataPacket> {
    const streamId = randomUUID()
    return [
      header(speaker, streamId, segmentId, final),
      ...chunks(speaker, streamId, text, 0),
      trailer(speaker, streamId, segmentId, final)
    ]
  }

  agentDelta(speaker: Speaker, segmentId: string, delta: string): Array<DataPacket> {
    const known = this.#open.get(segmentId)
    const segment = known ?? { streamId: randomUUID(), chunks: 0, text: "" }
    this.#open.set(segmentId, segment)
    const packets = chunks(speaker, segment.streamId, delta, segment.chunks)
    segment.chunks += packets.length
    segment.text += delta
    return known === undefined ? [header(speaker, segment.streamId, segmentId, false), ...packets] : packets
  }

  /** Nothing for a segment of which nothing was said. */
  agentDone(speaker: Speaker, segmentId: string): Array<DataPacket> {
    const segment = this.#open.get(segmentId)
    this.#open.delete(segmentId)
    return segment === undefined ? [] : [trailer(speaker, segment.streamId, segmentId, true)]
  }

  /** For a client that knows nothing yet: the open segments from their start. */
  reopen(speaker: Speaker): Array<DataPacket> {
    return [...this.#open].flatMap(([segmentId, { text }]) => {
      this.#open.delete(segmentId)
      return this.agentDelta(speaker, segmentId, text)
    })
  }
}

const header = (speaker: Speaker, streamId: string, segmentId: string, final: boolean): DataPacket =>
  packet(speaker, {
    case: "streamHeader",
    value: new DataStream_Header({
      streamId,
      timestamp: BigInt(Date.now()),
      topic: transcriptTopic,
      mimeType: "text/plain",
      attributes: {
        ...attributes(segmentId, final),
        ...(speaker.trackSid === undefined ? {} : { "lk.transcribed_track_id": speaker.trackSid })
      },
      contentHeader: { case: "textHeader", value: new DataStream_TextHeader() }
    })
  })

const chunks = (speaker: Speaker, streamId: string, text: string, firstIndex: number): Array<DataPacket> =>
  splitUtf8(text).map((content, i) =>
    packet(speaker, {
      case: "streamChunk",
      value: new DataStream_Chunk({ streamId, chunkIndex: BigInt(firstIndex + i), content })
    })
  )

const trailer = (speaker: Speaker, streamId: string, segmentId: string, final: boolean): DataPacket =>
  packet(speaker, {
    case: "streamTrailer",
    value: new DataStream_Trailer({ streamId, attributes: attributes(segmentId, final) })
  })

const attributes = (segmentId: string, final: boolean): Record<string, string> => ({
  "lk.segment_id": segmentId,
  "lk.transcription_final": String(final)
})

const packet = (speaker: Speaker, value: DataPacket["value"]): DataPacket =>
  new DataPacket({ participantIdentity: speaker.identity, participantSid: speaker.sid, value })

/** Never inside a character: a receiver decodes chunk by chunk. */
const splitUtf8 = (text: string): Array<Uint8Array<ArrayBuffer>> => {
  const bytes = new TextEncoder().encode(text)
  const parts: Array<Uint8Array<ArrayBuffer>> = []
  for (let at = 0; at < bytes.length;) {
    let end = Math.min(at + maxChunkBytes, bytes.length)
    while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
    parts.push(bytes.subarray(at, end))
    at = end
  }
  return parts
}
