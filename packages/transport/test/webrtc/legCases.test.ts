// The WebRTC leg as a leg: Opus packets in and out of it, without a network.
import { makeOpusDecoder } from "@parley/audio/opus/OpusDecoder"
import { makeOpusEncoder } from "@parley/audio/opus/OpusEncoder"
import { hearingRate } from "@parley/engine/leg/Leg"
import { legCases, type FarSide } from "@parley/engine/testing/legCases"
import { makeWebRtcLeg } from "../../src/webrtc/WebRtcLeg.ts"
import { makeTone } from "../wire/tone.ts"

const loudRms = 2_000

const make = async (): Promise<FarSide> => {
  let nowMs = 0
  let released = 0
  let heard = 0
  let told = 0
  let sequence = 0
  const leg = await makeWebRtcLeg({
    patience: { silenceMs: 20_000, graceMs: 15_000 },
    nowMs: () => (nowMs += 20),
    onEnding: () => void released++
  })
  const encoder = await makeOpusEncoder({ sampleRate: 24_000 })
  const decoder = await makeOpusDecoder({ sampleRate: hearingRate })
  const tone = makeTone(24_000, 500, 0.5)
  leg.carry({
    sendRtp: ({ payload }) => {
      const samples = decoder.decode(payload) ?? new Int16Array(1)
      if (Math.sqrt(samples.reduce((sum, s) => sum + s * s, 0) / samples.length) > loudRms) heard++
    },
    tell: () => void told++
  })
  return {
    leg,
    speaks: async (frames) => {
      for (let i = 0; i < frames; i++) {
        leg.hear({
          ssrc: 1,
          sequence: ++sequence,
          timestamp: sequence * 960,
          payload: encoder.encode(tone(480)).slice()
        })
      }
    },
    sends: async (event) => leg.takeEvent(event),
    presses: async (digit) => leg.takeDigit(digit),
    leaves: async (how) => leg.end(how),
    heard: () => heard,
    told: () => told,
    released: () => released
  }
}

legCases("WebRtcLeg", make)
