import { describe, expect, it } from "vitest"
import { hintOf, refusedOption, transcriptOf, wordsOf } from "../../../src/compat/elevenlabs/speechToText.ts"

const fields = (entries: Record<string, string>) =>
  new Map(Object.entries(entries).map(([name, value]) => [name, [value]] as const))
const noQuery = new URLSearchParams()

describe("refused options of the ElevenLabs-compatible API", () => {
  it.each([
    ["diarize", "true"],
    ["use_multi_channel", "1"],
    ["entity_detection", "pii"],
    ["entity_redaction", "all"],
    ["entity_redaction_mode", "redacted"],
    ["no_verbatim", "True"],
    ["tag_audio_events", "yes"],
    ["additional_formats", '[{"format":"srt"}]'],
    ["webhook", "true"],
    ["webhook_id", "abc"],
    ["source_url", "https://example.com/a.mp3"],
    ["cloud_storage_url", "https://example.com/a.mp3"]
  ])("%s", (name, value) => {
    expect(refusedOption(fields({ [name]: value }), noQuery)).toBe(name)
  })

  it.each(["false", "False", "0", "off", "no", "none", "", "null"])("%o is unset", (value) => {
    const all = ["diarize", "use_multi_channel", "no_verbatim", "tag_audio_events", "webhook"]
    expect(refusedOption(fields(Object.fromEntries(all.map((name) => [name, value]))), noQuery)).toBeUndefined()
  })

  it("refuses characters and switched-off logging, wherever that is said", () => {
    expect(refusedOption(fields({ timestamps_granularity: "character" }), noQuery)).toMatch(/character/)
    expect(refusedOption(fields({ timestamps_granularity: "word" }), noQuery)).toBeUndefined()
    expect(refusedOption(fields({}), new URLSearchParams("enable_logging=false"))).toMatch(/enable_logging/)
    expect(refusedOption(fields({ enable_logging: "False" }), noQuery)).toMatch(/enable_logging/)
    expect(refusedOption(fields({}), new URLSearchParams("enable_logging=true"))).toBeUndefined()
  })
})

describe("the transcript of the ElevenLabs-compatible API", () => {
  const words = [
    { text: "hello", startMs: 100, endMs: 400 },
    { text: "there", startMs: 500, endMs: 900 }
  ]

  it("has words with spacing between them, and its constants", () => {
    const entry = { speaker_id: null, logprob: 0 }
    expect(wordsOf(words)).toEqual([
      { text: "hello", start: 0.1, end: 0.4, type: "word", ...entry },
      { text: " ", start: 0.4, end: 0.5, type: "spacing", ...entry },
      { text: "there", start: 0.5, end: 0.9, type: "word", ...entry }
    ])
  })

  it("echoes the language as it was sent, and says nothing where none was", () => {
    const heard = { text: "hello there", durationMs: 1000, words, language: "en" }
    expect(transcriptOf(heard, fields({ language_code: "eng" }))).toMatchObject({
      language_code: "eng",
      language_probability: 1,
      text: "hello there"
    })
    expect(transcriptOf(heard, fields({})).language_code).toBe("")
  })

  it("hints the recogniser with what it knows", () => {
    expect([hintOf("en"), hintOf("eng"), hintOf("deu"), hintOf("xyz"), hintOf("")]).toEqual(["en", "en", "de", "", ""])
  })
})
