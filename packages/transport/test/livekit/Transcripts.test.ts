import type { DataPacket } from "@livekit/protocol"
import { describe, expect, it } from "vitest"
import { Transcripts } from "../../src/livekit/Transcripts.ts"

const user = { identity: "ann", sid: "PA_u", trackSid: "TR_u" }
const agent = { identity: "agent", sid: "PA_a", trackSid: "TR_a" }

/** As a client sees it: header, chunks and trailer put together by stream id. */
const read = (packets: ReadonlyArray<DataPacket>) => {
  const streams = new Map<string, { from: string; text: string; attributes: Record<string, string>; ended: boolean }>()
  const chunkIndex = new Map<string, bigint>()
  const decoder = new TextDecoder("utf-8", { fatal: true })
  for (const { participantIdentity, value } of packets) {
    if (value.case === "streamHeader") {
      expect(value.value.topic).toBe("lk.transcription")
      streams.set(value.value.streamId, {
        from: participantIdentity,
        text: "",
        attributes: { ...value.value.attributes },
        ended: false
      })
    } else if (value.case === "streamChunk") {
      const stream = streams.get(value.value.streamId)
      if (stream === undefined) throw new Error("chunk without header")
      expect(value.value.chunkIndex).toBe(chunkIndex.get(value.value.streamId) ?? 0n)
      chunkIndex.set(value.value.streamId, value.value.chunkIndex + 1n)
      expect(value.value.content.byteLength).toBeLessThanOrEqual(15_000)
      stream.text += decoder.decode(value.value.content)
    } else if (value.case === "streamTrailer") {
      const stream = streams.get(value.value.streamId)
      if (stream === undefined) throw new Error("trailer without header")
      stream.ended = true
      Object.assign(stream.attributes, value.value.attributes)
    }
  }
  return [...streams.values()]
}

describe("Transcripts", () => {
  it("replaces what the user said: a whole stream per update, under the user's name", () => {
    const transcripts = new Transcripts()
    const streams = read([
      ...transcripts.user(user, "s1", "hel", false),
      ...transcripts.user(user, "s1", "hello", true)
    ])
    expect(streams).toEqual(
      ["hel", "hello"].map((text, i) => ({
        from: "ann",
        text,
        ended: true,
        attributes: {
          "lk.segment_id": "s1",
          "lk.transcription_final": String(i === 1),
          "lk.transcribed_track_id": "TR_u"
        }
      }))
    )
  })

  it("appends what the agent says to one stream, whose end makes it final", () => {
    const transcripts = new Transcripts()
    const open = ["Hi ", "there"].flatMap((delta) => transcripts.agentDelta(agent, "a1", delta))
    expect(read(open)).toMatchObject([
      { text: "Hi there", ended: false, attributes: { "lk.transcription_final": "false" } }
    ])
    const streams = read([...open, ...transcripts.agentDone(agent, "a1")])
    expect(streams).toMatchObject([{ text: "Hi there", ended: true, attributes: { "lk.transcription_final": "true" } }])
    expect(transcripts.agentDone(agent, "a1")).toEqual([])
  })

  it("begins open segments again for a client that knows nothing, and no closed ones", () => {
    const transcripts = new Transcripts()
    transcripts.agentDelta(agent, "a1", "done")
    transcripts.agentDone(agent, "a1")
    transcripts.agentDelta(agent, "a2", "said ")
    transcripts.agentDelta(agent, "a2", "before, ")
    const again = [...transcripts.reopen(agent), ...transcripts.agentDelta(agent, "a2", "after")]
    expect(read(again).map(({ text }) => text)).toEqual(["said before, after"])
  })

  it("cuts long text between characters", () => {
    const text = "ÄÖÜ€𝄞 ".repeat(4000)
    expect(read(new Transcripts().user(user, "s", text, true))[0]?.text).toBe(text)
  })
})
