import { assert, describe, it } from "@effect/vitest"
import { decodeMuLaw, encodeMuLaw } from "../src/G711.ts"
import { type Tone, ToneDetector } from "../src/ToneDetector.ts"

const rate = 16_000
const frames = (samples: Int16Array) =>
  Array.from({ length: Math.floor(samples.length / 320) }, (_, i) => samples.subarray(i * 320, (i + 1) * 320))
const heardIn = (samples: Int16Array): ReadonlyArray<Tone> => {
  const found: Array<Tone> = []
  const detector = new ToneDetector((tone) => found.push(tone))
  for (const frame of [...frames(samples), ...frames(new Int16Array(rate / 2))]) detector.hear(frame)
  return found
}
const sound = (ms: number, at: (t: number) => number) =>
  Int16Array.from({ length: (ms * rate) / 1000 }, (_, i) => Math.round(at(i / rate)))
const tone = (ms: number, hz: number, volume = 6_000) => sound(ms, (t) => volume * Math.sin(2 * Math.PI * hz * t))

describe("ToneDetector", () => {
  it("finds beeps of every usual pitch and length, also through G.711 and under noise", () => {
    for (const hz of [400, 620, 800, 1000, 1400, 2000, 2400]) {
      for (const ms of [200, 440, 1000, 2000]) {
        let seed = hz + ms
        const noisy = tone(ms, hz).map((sample) => sample + ((seed = (seed * 69_069 + 1) % 65_536) % 700) - 350)
        for (const samples of [tone(ms, hz), decodeMuLaw(encodeMuLaw(tone(ms, hz))), noisy]) {
          const [found, ...more] = heardIn(samples)
          assert.isEmpty(more)
          assert.approximately(found?.frequency ?? 0, hz, hz * 0.05, `${hz} Hz, ${ms} ms`)
          assert.approximately(found?.durationMs ?? 0, ms, 60)
        }
      }
    }
  })

  it("tells it when it is over, once", () => {
    const found: Array<Tone> = []
    const detector = new ToneDetector((one) => found.push(one))
    for (const frame of frames(tone(500, 1000))) detector.hear(frame)
    assert.isEmpty(found)
    for (const frame of frames(new Int16Array(3_200))) detector.hear(frame)
    assert.strictEqual(found.length, 1)
  })

  it("takes nothing else for one", () => {
    const not: Record<string, Int16Array> = {
      silence: new Int16Array(rate),
      "a tick": tone(100, 1000),
      "a dial tone": sound(2_000, (t) => 3_000 * (Math.sin(2 * Math.PI * 350 * t) + Math.sin(2 * Math.PI * 440 * t))),
      "a key": sound(300, (t) => 3_000 * (Math.sin(2 * Math.PI * 770 * t) + Math.sin(2 * Math.PI * 1336 * t))),
      "music on hold": tone(4_000, 660),
      "a hum": tone(1_000, 120),
      "a vowel": sound(900, (t) => {
        const pitch = 130 + 8 * Math.sin(2 * Math.PI * 3 * t)
        return [1, 2, 3, 4, 5, 6, 7, 8].reduce((sum, n) => sum + (4_000 / n) * Math.sin(2 * Math.PI * pitch * n * t), 0)
      }),
      "a siren": sound(1_500, (t) => 6_000 * Math.sin(2 * Math.PI * (500 * t + 400 * t * t))),
      "far away": tone(500, 1000, 60)
    }
    for (const [what, samples] of Object.entries(not)) assert.isEmpty(heardIn(samples), what)
  })
})
