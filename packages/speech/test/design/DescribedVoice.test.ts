import { describedVoice, featuresOf, seeded } from "@parley/speech/design/DescribedVoice"
import { describe, expect, it } from "vitest"

const profileOf = (instruction: string) => {
  const random = seeded(3)
  return describedVoice(featuresOf(instruction, random), random).profile
}

describe("DescribedVoice", () => {
  it.each([
    ["A warm elderly woman who speaks slowly", { gender: "female", age: "old", tone: "warm", pacing: "slow" }],
    ["deep male announcer, fast", { gender: "male", tone: "deep", pacing: "fast" }],
    ["A cheerful little boy", { gender: "male", age: "child", tone: "energetic" }],
    ["Scottish gentleman", { gender: "male", accent: "scottish" }],
    ["an androgynous calm voice", { gender: "neutral", tone: "calm" }],
    ["she is a crisp young newsreader", { gender: "female", age: "young", tone: "bright" }]
  ])("hears %s", (instruction, expected) => {
    expect(featuresOf(instruction, seeded(1))).toMatchObject(expected)
  })

  it("does not find words inside of others", () => {
    expect(featuresOf("a human shepherd", () => 0).gender).toBe("female")
    expect(featuresOf("a human shepherd", () => 0.9).gender).toBe("male")
  })

  it("gives each candidate its own voice and the same seed the same voice, all within the bounds of a profile", () => {
    const profiles = Array.from({ length: 200 }, (_, seed) => {
      const random = seeded(seed)
      return describedVoice(featuresOf("someone", random), random).profile
    })
    expect(new Set(profiles.map((profile) => JSON.stringify(profile))).size).toBe(200)
    const again = seeded(7)
    expect(describedVoice(featuresOf("someone", again), again).profile).toEqual(profiles[7])
    for (const profile of profiles) {
      expect(profile?.pitchHz).toBeGreaterThan(70)
      expect(profile?.pitchHz).toBeLessThan(320)
      expect(profile?.pace).toBeGreaterThanOrEqual(0.7)
      expect(profile?.pace).toBeLessThanOrEqual(1.4)
      expect(profile?.tract).toBeGreaterThanOrEqual(0.93)
      expect(profile?.tract).toBeLessThanOrEqual(1.07)
      expect(profile?.colour.every((gain) => Math.abs(gain) <= 10)).toBe(true)
    }
  })

  it("makes a woman's voice higher than a man's and a slow one slower than a fast one", () => {
    expect(profileOf("a woman")?.pitchHz).toBeGreaterThan((profileOf("a man")?.pitchHz ?? 0) + 40)
    expect(profileOf("slow man")?.pace).toBeLessThan((profileOf("fast man")?.pace ?? 0) - 0.2)
  })
})
