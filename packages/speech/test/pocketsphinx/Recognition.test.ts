import { describe, expect, it } from "vitest"
import { Recognition } from "../../src/pocketsphinx/Recognition.ts"
import type { StretchDecoder } from "../../src/pocketsphinx/Recognition.ts"

const frames = 1600
const voice = new Int16Array(frames).fill(1000)
const silence = new Int16Array(frames)

/** Recognises one word per 100 ms of loud samples; counts how often the second pass ran. */
class FakeDecoder implements StretchDecoder {
  inSpeech = false
  passes = 0
  words: Array<{ text: string; startMs: number; endMs: number }> = []
  #open: Array<{ text: string; startMs: number; endMs: number }> = []
  #ms = 0
  #count = 0

  startStream(): void {
    this.#ms = 0
  }
  startUtterance(): void {
    this.#open = []
  }
  endUtterance(): void {
    this.passes++
    this.words = this.#open
  }
  process(samples: Int16Array): void {
    this.inSpeech = samples[0] !== 0
    if (this.inSpeech) this.#open.push({ text: `w${this.#count++}`, startMs: this.#ms, endMs: this.#ms + 100 })
    this.#ms += samples.length / 16
  }
  get text(): string {
    return this.#open.map((word) => word.text).join(" ")
  }
}

describe("Recognition", () => {
  it("shows a growing utterance over pauses, and has nothing left to do at a commit after a pause", () => {
    const decoder = new FakeDecoder()
    const recognition = new Recognition(decoder)
    const shown = [silence, voice, voice, silence, voice, silence].map((samples) => recognition.accept(samples))
    expect(shown).toEqual(["", "w0", "w0 w1", "w0 w1", "w0 w1 w2", "w0 w1 w2"])
    const passes = decoder.passes
    expect(recognition.commit()).toEqual({
      text: "w0 w1 w2",
      words: [
        { text: "w0", startMs: 100, endMs: 200 },
        { text: "w1", startMs: 200, endMs: 300 },
        { text: "w2", startMs: 400, endMs: 500 }
      ]
    })
    expect(decoder.passes).toBe(passes)
  })

  it("finishes the open stretch at a commit in mid-speech, and times the next utterance from its own start", () => {
    const recognition = new Recognition(new FakeDecoder())
    recognition.accept(voice)
    expect(recognition.commit().text).toBe("w0")
    recognition.accept(silence)
    recognition.accept(voice)
    expect(recognition.commit()).toEqual({ text: "w1", words: [{ text: "w1", startMs: 100, endMs: 200 }] })
    expect(recognition.commit()).toEqual({ text: "", words: [] })
  })

  it("forgets on discard and on reset", () => {
    const recognition = new Recognition(new FakeDecoder())
    recognition.accept(voice)
    recognition.discard()
    expect(recognition.commit().text).toBe("")
    recognition.accept(voice)
    recognition.reset()
    recognition.accept(silence)
    recognition.accept(voice)
    expect(recognition.commit()).toEqual({ text: "w2", words: [{ text: "w2", startMs: 100, endMs: 200 }] })
  })
})
