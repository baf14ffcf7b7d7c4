// A voice from its description in words (English): what is said of gender, age, tone, accent and pace becomes a
// profile that an adapting engine can speak with. Not said is free, and each candidate is free in its own way.
import type { VoiceProfile } from "@parley/audio/voice/VoiceProfile"
import type { SpokenVoice } from "../synthesis/SynthesisRequest.ts"

/** What a description in words asks of a voice. */
export interface VoiceFeatures {
  readonly gender: "female" | "male" | "neutral"
  readonly age: "child" | "young" | "adult" | "old"
  readonly tone: "warm" | "bright" | "deep" | "calm" | "energetic" | "neutral"
  readonly accent: "american" | "scottish"
  readonly pacing: "slow" | "moderate" | "fast"
}

/** Whole words; the first row that is met decides. */
const vocabulary: { readonly [K in keyof VoiceFeatures]: ReadonlyArray<readonly [VoiceFeatures[K], RegExp]> } = {
  gender: [
    ["female", /\b(female|woman|women|girl|lady|feminine|mother|grandmother|actress|she|her)\b/i],
    ["male", /\b(male|man|men|boy|gentleman|masculine|father|grandfather|actor|he|his)\b/i],
    ["neutral", /\b(neutral|androgynous|robot)\b/i]
  ],
  age: [
    ["child", /\b(child|kid|girl|boy|toddler)\b/i],
    ["old", /\b(old|elderly|aged|senior|grandmother|grandfather|ancient|retired)\b/i],
    ["young", /\b(young|teen|teenage|teenager|youthful|student)\b/i],
    ["adult", /\b(adult|middle-aged|mature|grown)\b/i]
  ],
  tone: [
    ["deep", /\b(deep|low|bass|booming|gravelly|resonant)\b/i],
    ["warm", /\b(warm|soft|gentle|friendly|kind|smooth|velvet\w*)\b/i],
    ["calm", /\b(calm|soothing|relaxed|quiet|serious|neutral)\b/i],
    ["energetic", /\b(energetic|excited|lively|cheerful|happy|enthusiastic|upbeat)\b/i],
    ["bright", /\b(bright|clear|crisp|high|light|sharp)\b/i]
  ],
  accent: [
    ["scottish", /\b(scottish|scots|british|english accent|irish|uk)\b/i],
    ["american", /\b(american|us|usa|california\w*|new york)\b/i]
  ],
  pacing: [
    ["slow", /\b(slow|slowly|unhurried|measured|leisurely)\b/i],
    ["fast", /\b(fast|quick|quickly|rapid|rapidly|hurried|brisk)\b/i],
    ["moderate", /\b(moderate|steady|medium)\b/i]
  ]
}

/** What the words say; `random` (0 to 1, each call a new one) chooses what they leave open. */
export const featuresOf = (instruction: string, random: () => number): VoiceFeatures => {
  const said = <K extends keyof VoiceFeatures>(key: K): VoiceFeatures[K] | undefined =>
    vocabulary[key].find(([, words]) => words.test(instruction))?.[0]
  return {
    gender: said("gender") ?? (random() < 0.5 ? "female" : "male"),
    age: said("age") ?? "adult",
    tone: said("tone") ?? "neutral",
    accent: said("accent") ?? "american",
    pacing: said("pacing") ?? "moderate"
  }
}

const pitchOf: Readonly<Record<VoiceFeatures["gender"], Readonly<Record<VoiceFeatures["age"], number>>>> = {
  female: { child: 265, young: 215, adult: 195, old: 178 },
  male: { child: 240, young: 125, adult: 108, old: 98 },
  neutral: { child: 250, young: 165, adult: 152, old: 140 }
}

const paceOf: Readonly<Record<VoiceFeatures["pacing"], number>> = { slow: 0.8, moderate: 1, fast: 1.25 }

/** Pitch factor, spread relative to pitch, and colour in dB from 125 Hz to 7 kHz. */
const tones: Readonly<Record<VoiceFeatures["tone"], readonly [number, number, ReadonlyArray<number>]>> = {
  neutral: [1, 0.13, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
  warm: [0.97, 0.13, [3, 4, 3, 1, 0, -1, -2, -3, -4, -4]],
  bright: [1.06, 0.16, [-4, -3, -2, -1, 0, 1, 3, 4, 4, 3]],
  deep: [0.84, 0.1, [5, 5, 3, 1, 0, -1, -2, -3, -4, -5]],
  calm: [0.96, 0.08, [1, 2, 1, 0, 0, 0, -1, -2, -3, -3]],
  energetic: [1.08, 0.24, [-2, -1, 0, 0, 1, 2, 2, 2, 1, 0]]
}

/** A profile with these features. `random` (0 to 1) varies it a little, so that each call gives another voice. */
export const describedVoice = (features: VoiceFeatures, random: () => number): SpokenVoice["character"] & {} => {
  const [factor, spread, colour] = tones[features.tone]
  const vary = (span: number) => 1 + span * (2 * random() - 1)
  const pitchHz = Math.round(pitchOf[features.gender][features.age] * factor * vary(0.07))
  const profile: VoiceProfile = {
    pitchHz,
    pitchSpreadHz: Math.round(pitchHz * spread * vary(0.25)),
    pace: clamp(paceOf[features.pacing] * vary(0.06), 0.7, 1.4),
    tract: clamp((features.age === "child" ? 1.06 : features.tone === "deep" ? 0.96 : 1) * vary(0.025), 0.93, 1.07),
    colour: colour.map((gain) => clamp(gain + 3 * (random() - 0.5), -10, 10))
  }
  return { id: JSON.stringify(profile), references: [], profile }
}

const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value))

/** The same row of numbers in 0 to 1 for the same seed (mulberry32). */
export const seeded = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
