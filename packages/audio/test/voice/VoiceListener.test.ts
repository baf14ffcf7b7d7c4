// What is heard of a voice, on signals whose pitch, colour, pace and faults are known.
import { describe, expect, it } from "vitest"
import { dbfs } from "@parley/audio/Level"
import { listeningRate, VoiceListener } from "@parley/audio/voice/VoiceListener"
import type { VoiceReport } from "@parley/audio/voice/VoiceListener"
import { colourBandsHz } from "@parley/audio/voice/VoiceProfile"

/** Pulses of a voice, `harmonics` of them falling by 6 dB an octave, said in `perSecond` syllables. */
const voice = (hz: number, seconds: number, options: { perSecond?: number; level?: number; tilt?: number } = {}) => {
  const { level = 0.3, perSecond = 0, tilt = 1 } = options
  let phase = 0
  return Int16Array.from({ length: seconds * listeningRate }, (_, n) => {
    const at = n / listeningRate
    phase += (2 * Math.PI * hz) / listeningRate
    let sum = 0
    for (let k = 1; k * hz < 7000; k++) sum += Math.sin(k * phase) / k ** tilt
    const syllable = perSecond === 0 ? 1 : 0.5 - 0.45 * Math.cos(2 * Math.PI * perSecond * at)
    return Math.round(32767 * level * 0.4 * syllable * sum)
  })
}

const heard = (samples: Int16Array, step = 4096): VoiceReport => {
  const listener = new VoiceListener()
  for (let at = 0; at < samples.length; at += step) listener.hear(samples.subarray(at, at + step))
  return listener.report()
}

describe("VoiceListener", () => {
  it.each([65, 80, 110, 160, 220, 300, 380])("hears a pitch of %i Hz", (hz) => {
    const { profile, voicedMs } = heard(voice(hz, 2))
    expect(Math.abs(profile.pitchHz / hz - 1)).toBeLessThan(0.02)
    expect(profile.pitchSpreadHz).toBeLessThan(0.02 * hz)
    expect(voicedMs).toBeGreaterThan(1800)
  })

  it("hears how far a pitch moves", () => {
    const parts = [100, 110, 120, 130, 140].map((hz) => voice(hz, 1))
    const { profile } = heard(Int16Array.from(parts.flatMap((part) => Array.from(part))))
    expect(profile.pitchHz).toBeGreaterThan(115)
    expect(profile.pitchHz).toBeLessThan(125)
    expect(profile.pitchSpreadHz).toBeGreaterThan(11)
    expect(profile.pitchSpreadHz).toBeLessThan(18)
  })

  it("tells a quick speaker from a slow one", () => {
    expect(heard(voice(120, 4, { perSecond: 5 })).profile.pace).toBeGreaterThan(1.15)
    expect(heard(voice(120, 4, { perSecond: 2.9 })).profile.pace).toBeLessThan(0.85)
  })

  it("hears a bright voice as brighter than a dull one", () => {
    const bright = heard(voice(120, 2, { tilt: 0.5 })).profile.colour
    const dull = heard(voice(120, 2, { tilt: 1.5 })).profile.colour
    expect(bright).toHaveLength(colourBandsHz.length)
    expect(bright.at(-2)! - bright[0]!).toBeGreaterThan(dull.at(-2)! - dull[0]! + 5)
    for (const gain of [...bright, ...dull]) expect(Math.abs(gain)).toBeLessThanOrEqual(10)
  })

  it("hears no voice in noise and in silence, and says how loud and how clipped a recording is", () => {
    let state = 5
    const noise = Int16Array.from({ length: 32000 }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return (state >>> 17) - 16384
    })
    expect(heard(noise).voicedMs).toBeLessThan(60)
    const silence = heard(new Int16Array(16000))
    expect(silence).toMatchObject({ durationMs: 1000, voicedMs: 0, levelDbfs: -120, peakDbfs: -120, clipped: 0 })
    const loud = voice(120, 1).map((value) => Math.max(-32768, Math.min(32767, 8 * value)))
    expect(heard(loud).clipped).toBeGreaterThan(0.05)
    const steady = voice(120, 1)
    const level = Math.sqrt(steady.reduce((sum, value) => sum + value * value, 0) / steady.length) / 32768
    expect(Math.abs(heard(steady).levelDbfs - dbfs(level))).toBeLessThan(0.5)
  })

  it("hears the same however the recording is cut", () => {
    const samples = voice(140, 1.5, { perSecond: 4 })
    expect(heard(samples, 777)).toEqual(heard(samples, samples.length))
  })

  it("is not upset by an empty recording", () => {
    expect(heard(new Int16Array(0))).toMatchObject({ durationMs: 0, voicedMs: 0 })
    expect(JSON.stringify(heard(new Int16Array(0)))).not.toContain("null")
  })
})
