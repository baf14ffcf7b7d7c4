import type { ClientEvent } from "@parley/contract/ClientEvent"
import type { LegMessage } from "@parley/engine/leg/Leg"
import { describe, expect, it } from "vitest"
import { makeWebRtcLeg, type LegEnding } from "../../src/webrtc/WebRtcLeg.ts"

const hangup: ClientEvent = { type: "user.hangup" }

const setUp = async () => {
  let nowMs = 0
  const endings: Array<LegEnding> = []
  const leg = await makeWebRtcLeg({
    patience: { silenceMs: 20_000, graceMs: 15_000 },
    nowMs: () => nowMs,
    onEnding: (ending) => void endings.push(ending)
  })
  const events: Array<string> = []
  const ears = {
    onFrame: () => void events.push("frame"),
    onEvent: (event: ClientEvent) => void events.push(event.type),
    onDigit: (digit: string) => void events.push(digit),
    onClosed: (how: string) => void events.push(how)
  }
  return { leg, ears, events, endings, at: (ms: number) => (nowMs = ms) }
}

describe("WebRtcLeg", () => {
  it("holds events until somebody listens, in order", async () => {
    const { ears, events, leg } = await setUp()
    leg.takeEvent({ type: "user.activity" })
    leg.takeDigit("7")
    leg.takeEvent(hangup)
    leg.attach(ears)
    leg.takeDigit("8")
    expect(events).toEqual(["user.activity", "7", "user.hangup", "8"])
    leg.close("user_hangup")
  })

  it("holds the end until somebody listens", async () => {
    const { ears, events, leg } = await setUp()
    leg.end("left")
    leg.attach(ears)
    expect(events).toEqual(["left"])
  })

  it("closes once, silently, and is deaf and mute afterwards", async () => {
    const { ears, endings, events, leg } = await setUp()
    const told: Array<LegMessage> = []
    leg.attach(ears)
    leg.carry({ sendRtp: () => void events.push("rtp"), tell: (message) => void told.push(message) })
    leg.close("agent_hangup")
    leg.close("internal_error")
    leg.end("lost")
    leg.play(new Int16Array(480))
    leg.tell({ _tag: "State", state: "idle" })
    leg.takeEvent(hangup)
    leg.hear({ ssrc: 1, sequence: 1, timestamp: 0, payload: Uint8Array.of(1) })
    expect(endings).toEqual([{ _tag: "Closed", reason: "agent_hangup" }])
    expect(events).toEqual([])
    expect(told).toEqual([])
  })

  it("is lost after 20 s without a sign, or 15 s without signalling, and says so once", async () => {
    const silent = await setUp()
    silent.leg.attach(silent.ears)
    for (const ms of [19_999, 20_000, 21_000]) {
      silent.at(ms)
      silent.leg.watch()
    }
    expect(silent.events).toEqual(["lost"])

    const away = await setUp()
    away.leg.attach(away.ears)
    away.leg.signallingAway()
    away.at(14_000)
    away.leg.watch()
    away.leg.signallingBack()
    away.at(29_000)
    away.leg.alive()
    away.leg.watch()
    expect(away.events).toEqual([])
    away.leg.signallingAway()
    away.at(44_000)
    away.leg.alive()
    away.leg.watch()
    expect(away.events).toEqual(["lost"])
  })

  it("speaks over whatever line carries it now", async () => {
    const { leg } = await setUp()
    const sent: Array<[string, number]> = []
    const line = (name: string) => ({
      sendRtp: ({ sequence }: { sequence: number }) => void sent.push([name, sequence]),
      tell: () => undefined
    })
    leg.play(new Int16Array(480))
    leg.carry(line("first"))
    leg.play(new Int16Array(480))
    leg.carry(line("second"))
    leg.play(new Int16Array(480))
    expect(sent.map(([name]) => name)).toEqual(["first", "second"])
    expect(((sent[1]?.[1] ?? 0) - (sent[0]?.[1] ?? 0)) & 0xffff).toBe(1)
    leg.close("user_hangup")
  })
})
