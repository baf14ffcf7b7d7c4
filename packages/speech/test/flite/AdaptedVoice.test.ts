import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { VoiceListener } from "@parley/audio/voice/VoiceListener"
import type { VoiceProfile } from "@parley/audio/voice/VoiceProfile"
import { adaptedVoice } from "../../src/flite/AdaptedVoice.ts"
import { makeFliteSynthesizer } from "../../src/flite/FliteSynthesizer.ts"
import { findPocketSphinx } from "../../src/pocketsphinx/PocketSphinxInstallation.ts"
import { makePocketSphinxTranscriber } from "../../src/pocketsphinx/PocketSphinxTranscriber.ts"
import type { Synthesizer } from "../../src/ports/Synthesizer.ts"
import { collect, phrase } from "../cases/synthesizerCases.ts"
import { finals, transcriptLog, pushAll, until } from "../cases/transcriberCases.ts"

const flat: ReadonlyArray<number> = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]

const profile = (changes: Partial<VoiceProfile> = {}): VoiceProfile => ({
  pitchHz: 130,
  pitchSpreadHz: 12,
  pace: 1,
  tract: 1,
  colour: flat,
  ...changes
})

/** How much brighter than dull, in dB. */
const tilt = ({ colour }: VoiceProfile): number => (colour[7] ?? 0) - (colour[2] ?? 0)

describe("adaptedVoice", () => {
  it.each([
    [220, "", "slt"],
    [155, "", "slt"],
    [145, "", "awb"],
    [101, "", "rms"],
    [90, "", "kal16"],
    [120, "kal16", "kal16"],
    [120, "slt", "awb"],
    [140, "rms", "awb"],
    [Number.NaN, "", "kal16"]
  ])("speaks %d Hz with the wish %j as %s", (pitchHz, wish, voice) => {
    expect(adaptedVoice(profile({ pitchHz }), wish).voice).toBe(voice)
  })

  it("asks for the opposite of what resampling does", () => {
    expect(adaptedVoice(profile({ tract: 0.95, pitchHz: 114, pace: 0.8 }), "")).toMatchObject({
      pitch: { meanHz: 120 },
      stretch: 0.95 / 0.8,
      tractPercent: 95,
      colour: undefined
    })
  })

  it("keeps within what a voice can bear", () => {
    const wild = profile({ tract: 3, pace: 9, pitchHz: 2000, pitchSpreadHz: 900, colour: [99, Number.NaN] })
    const { colour, pitch, stretch, tractPercent } = adaptedVoice(wild, "")
    expect([tractPercent, pitch?.meanHz, stretch]).toEqual([107, 350, 1.07 / 1.4])
    expect(colour).toEqual([10, -10, 0, 0, 0, 0, 0, 0, 0, 0])
  })
})

class Flite extends Context.Service<Flite, Synthesizer>()("test/AdaptedFlite") {}

const text = "Good morning, what can I do for you today? The meeting starts at nine."

const speak = (voice: VoiceProfile) =>
  Effect.gen(function* () {
    const flite = yield* Flite
    const character = { id: JSON.stringify(voice), references: [], profile: voice }
    const { audio, ms, words } = yield* collect(flite.synthesize({ ...phrase, text, character }))
    const samples = Int16Array.from(audio.flatMap((chunk) => Array.from(chunk.samples)))
    const listener = new VoiceListener()
    listener.hear(samples)
    return { samples, ms, words, heard: listener.report().profile }
  })

describe("an adapted Flite voice", () => {
  it.layer(Layer.effect(Flite, makeFliteSynthesizer({ threads: 1 })))((it) => {
    it.effect.each([85, 101, 125, 165, 210])("has the pitch of its profile, tract and all: %d Hz", (pitchHz) =>
      Effect.gen(function* () {
        for (const tract of [0.95, 1, 1.05]) {
          const { heard } = yield* speak(profile({ pitchHz, tract }))
          expect(Math.abs(heard.pitchHz / pitchHz - 1)).toBeLessThan(0.12)
        }
      })
    )

    it.effect("keeps its pace, and its word times within the sound, whatever the tract", () =>
      Effect.gen(function* () {
        const plain = yield* speak(profile())
        for (const tract of [0.93, 1.07]) {
          const { ms, words } = yield* speak(profile({ tract }))
          expect(Math.abs(ms / plain.ms - 1)).toBeLessThan(0.06)
          expect(words.map((word) => word.text)).toEqual(text.split(" "))
          expect(ms - (words.at(-1)?.endMs ?? 0)).toBeGreaterThan(0)
          expect(ms - (words.at(-1)?.endMs ?? 0)).toBeLessThan(150)
        }
        expect((yield* speak(profile({ pace: 1.3 }))).ms / plain.ms).toBeLessThan(0.85)
      })
    )

    it.effect("has the colour of its profile", () =>
      Effect.gen(function* () {
        const bright = yield* speak(profile({ colour: [-8, -8, -6, -3, 0, 0, 3, 6, 8, 8] }))
        const dark = yield* speak(profile({ colour: [6, 6, 4, 2, 0, 0, -3, -6, -8, -8] }))
        expect(tilt(bright.heard) - tilt(dark.heard)).toBeGreaterThan(8)
      })
    )
  })
})

describe.skipIf(findPocketSphinx() === undefined)("an adapted Flite voice, heard", () => {
  it.live(
    "is still understood",
    () =>
      Effect.gen(function* () {
        const transcriber = yield* makePocketSphinxTranscriber({ poolSize: 1 })
        const { events, options } = transcriptLog()
        const stream = yield* transcriber.open(options)
        const voices = [
          profile({ pitchHz: 95, tract: 0.96, colour: [4, 4, 2, 0, 0, 0, -1, -2, -3, -3] }),
          profile({ pitchHz: 210, tract: 1.04, pace: 1.1, colour: [-3, -3, -1, 0, 0, 0, 1, 2, 2, 2] })
        ]
        for (const [i, voice] of voices.entries()) {
          const { samples } = yield* speak(voice)
          pushAll(stream, samples)
          pushAll(stream, new Int16Array(8000))
          stream.commit()
          yield* until(() => finals(events).length === i + 1, 30_000)
          const words = (finals(events)[i]?.text ?? "").toLowerCase()
          const known = ["good", "morning", "what", "can", "for", "you", "today", "meeting", "starts", "at", "nine"]
          expect(known.filter((word) => words.includes(word)).length).toBeGreaterThanOrEqual(7)
        }
      }).pipe(Effect.scoped, Effect.provide(Layer.effect(Flite, makeFliteSynthesizer({ threads: 1 })))),
    60_000
  )
})
