import { assert, describe, it } from "@effect/vitest"
import { measure } from "../../src/journal/TurnLatency.ts"

const sum = (latency: ReturnType<typeof measure>): number =>
  latency.endpointing_ms +
  latency.asr_final_ms +
  latency.llm_first_token_ms +
  latency.phrase_ms +
  latency.tts_first_audio_ms +
  latency.playout_ms

describe("the latency of a turn", () => {
  const clocks = { lastVoicedAt: 1_000, waitedUntil: 1_550, decidedAt: 1_600 }
  it("names each wait", () => {
    const latency = measure("t", clocks, { firstWord: 1_800, firstPhrase: 1_850, firstAudio: 2_000 }, 2_015, false)
    assert.deepStrictEqual(
      [latency.endpointing_ms, latency.asr_final_ms, latency.llm_first_token_ms, latency.phrase_ms],
      [550, 50, 200, 50]
    )
    assert.strictEqual(latency.total_ms, 1_015)
    assert.strictEqual(sum(latency), latency.total_ms)
  })
  it("counts nothing for what a speculative reply had done before", () => {
    const latency = measure("t", clocks, { firstWord: 1_300, firstPhrase: 1_310, firstAudio: 1_400 }, 1_610, true)
    assert.strictEqual(latency.tts_first_audio_ms, 0)
    assert.strictEqual(latency.playout_ms, 10)
    assert.strictEqual(sum(latency), latency.total_ms)
  })
})
