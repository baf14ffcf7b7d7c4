// Plain turns: a caller speaks, the agent answers, and both are recorded and measured.
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeScriptedChatModel } from "@parley/llm/testing/ScriptedChatModel"
import { makeScriptedTranscriber } from "@parley/speech/testing/ScriptedTranscriber"
import { SpeechError } from "@parley/speech/ports/SpeechError"
import { rehearse } from "../../src/testing/Rehearsal.ts"
import { during, wait } from "./acting.ts"

const sumOf = (latency: object): number =>
  Object.entries(latency).reduce(
    (sum, [key, value]) => (key.endsWith("_ms") && key !== "total_ms" ? sum + Number(value) : sum),
    0
  )

describe("a turn", () => {
  it.effect("is answered, recorded and measured", () =>
    Effect.gen(function* () {
      const call = yield* rehearse({
        hears: ["I would like an appointment please"],
        chat: makeScriptedChatModel(["Of course. When would you like to come?"])
      })
      const { caller } = call
      yield* during(Effect.andThen(caller.speaks(1500), caller.pauses(2000)), 12_000)
      assert.deepStrictEqual(call.transcript(), [
        "user: I would like an appointment please",
        "assistant: Of course. When would you like to come?"
      ])
      const [latency] = call.latencies()
      assert.isDefined(latency)
      assert.strictEqual(latency.endpointing_ms, 550)
      assert.isTrue(latency.speculative)
      assert.isAtMost(latency.total_ms, 620)
      assert.approximately(sumOf(latency), latency.total_ms, 5)
      assert.strictEqual(call.state(), "listening")
      caller.leaves()
      yield* wait(10)
      assert.strictEqual(call.ended(), "user_hangup")
      assert.strictEqual(call.leg.closed(), "user_hangup")
    })
  )

  it.effect("without speculation waits for each part in turn", () =>
    Effect.gen(function* () {
      const call = yield* rehearse({ hears: ["hello there"], rules: { speculativeResponse: false } })
      yield* during(Effect.andThen(call.caller.speaks(600), call.caller.pauses(2000)), 6_000)
      const [latency] = call.latencies()
      assert.isDefined(latency)
      assert.isFalse(latency.speculative)
      assert.strictEqual(latency.endpointing_ms, 550)
      assert.strictEqual(latency.llm_first_token_ms, 200)
      assert.strictEqual(latency.tts_first_audio_ms, 150)
      assert.approximately(sumOf(latency), latency.total_ms, 5)
    })
  )

  it.effect("goes on over a pause shorter than the wait: two finals, one turn", () =>
    Effect.gen(function* () {
      const chat = makeScriptedChatModel(["All right."])
      const call = yield* rehearse({ hears: ["I would like", "an appointment"], chat })
      const { caller } = call
      const speech = [caller.speaks(600), caller.pauses(400), caller.speaks(600), caller.pauses(1500)]
      yield* during(Effect.all(speech, { discard: true }), 8_000)
      assert.deepStrictEqual(call.transcript(), ["user: I would like an appointment", "assistant: All right."])
      // The speculative reply after the first half was thrown away, and its request with it.
      assert.include(call.moves(), "DiscardReply")
      assert.strictEqual(call.moves().filter((name) => name === "RecordTurn").length, 1)
    })
  )

  it.effect("waits longer where the sentence plainly goes on, up to response_max_wait_ms", () =>
    Effect.gen(function* () {
      const call = yield* rehearse({
        hears: ["I would like to come on monday and"],
        rules: { responseMaxWaitMs: 1000 }
      })
      yield* during(Effect.andThen(call.caller.speaks(1500), call.caller.pauses(2500)), 8_000)
      assert.strictEqual(call.latencies()[0]?.endpointing_ms, 1000)
    })
  )

  it.effect("counts response_wait_ms from the last voiced sample, whatever the recogniser takes", () =>
    Effect.gen(function* () {
      const transcriber = makeScriptedTranscriber({ utterances: ["hello"], finalMs: 900 })
      const call = yield* rehearse({ transcriber, rules: { responseWaitMs: 700 } })
      yield* during(Effect.andThen(call.caller.speaks(600), call.caller.pauses(3000)), 8_000)
      const [latency] = call.latencies()
      assert.strictEqual(latency?.endpointing_ms, 700)
      assert.isAbove(latency?.asr_final_ms ?? 0, 200)
    })
  )

  it.effect("survives the recogniser dying mid-sentence", () =>
    Effect.gen(function* () {
      const error = new SpeechError({ reason: "Unavailable", provider: "scripted", message: "died" })
      const transcriber = makeScriptedTranscriber({
        utterances: [{ text: "I would like", fail: { afterMs: 500, error } }, "I would like an appointment"]
      })
      const call = yield* rehearse({ transcriber })
      yield* during(Effect.andThen(call.caller.speaks(1500), call.caller.pauses(2000)), 8_000)
      assert.deepStrictEqual(call.transcript(), ["user: I would like an appointment", "assistant: All right."])
      assert.strictEqual(transcriber.opened.length, 2)
    })
  )

  it.effect("asks a recogniser that opens and dies again and again ever more rarely", () =>
    Effect.gen(function* () {
      const error = new SpeechError({ reason: "Unauthorized", provider: "scripted", message: "refused" })
      const dying = { text: "never heard", fail: { afterMs: 20, error } }
      const transcriber = makeScriptedTranscriber({ utterances: [...Array.from({ length: 6 }, () => dying), "hello"] })
      const call = yield* rehearse({ transcriber })
      yield* during(Effect.andThen(call.caller.speaks(1000), call.caller.pauses(6000)), 1_000)
      assert.isAtMost(transcriber.opened.length, 6)
      yield* wait(4_000)
      // The pauses double; the seventh is told what the others were not.
      assert.strictEqual(transcriber.opened.length, 7)
    })
  )

  it.effect("gives up a recogniser that loses eight streams in a row without an answer", () =>
    Effect.gen(function* () {
      const error = new SpeechError({ reason: "Unavailable", provider: "scripted", message: "died" })
      const dying = { text: "never heard", fail: { afterMs: 20, error } }
      const call = yield* rehearse({
        transcriber: makeScriptedTranscriber({ utterances: Array.from({ length: 60 }, () => dying) })
      })
      const utterance = Effect.andThen(call.caller.speaks(1_000), call.caller.pauses(4_000))
      yield* during(Effect.replicateEffect(utterance, 4), 20_000)
      assert.strictEqual(call.ended(), "internal_error")
    })
  )

  it.effect("answers with the last partial when the final never comes", () =>
    Effect.gen(function* () {
      const transcriber = makeScriptedTranscriber({ utterances: [{ text: "please help me", finalMs: Infinity }] })
      const call = yield* rehearse({ transcriber })
      yield* during(Effect.andThen(call.caller.speaks(1200), call.caller.pauses(4000)), 10_000)
      assert.deepStrictEqual(call.transcript(), ["user: please help me", "assistant: All right."])
    })
  )

  it.effect("ends the call when no recogniser can be had any more", () =>
    Effect.gen(function* () {
      const error = new SpeechError({ reason: "Unauthorized", provider: "scripted", message: "refused" })
      const call = yield* rehearse({
        transcriber: makeScriptedTranscriber({ utterances: [], openFailure: () => error })
      })
      yield* wait(100)
      assert.strictEqual(call.ended(), "internal_error")
    })
  )

  it.effect("typed is answered at once, in text only where the client asks so", () =>
    Effect.gen(function* () {
      const call = yield* rehearse({ chat: makeScriptedChatModel(["In text.", "Aloud."]) })
      call.caller.sends({ type: "user.message", text: "Hello", audio: false })
      yield* wait(2_000)
      assert.strictEqual(call.leg.playedMs(), 0)
      call.caller.sends({ type: "user.message", text: "Speak", audio: true })
      yield* wait(4_000)
      assert.isAbove(call.leg.playedMs(), 200)
      assert.deepStrictEqual(call.transcript(), [
        "user: Hello",
        "assistant: In text.",
        "user: Speak",
        "assistant: Aloud."
      ])
    })
  )

  it.effect("of digits ends at # or after a pause", () =>
    Effect.gen(function* () {
      const call = yield* rehearse({})
      for (const digit of "12") call.caller.presses(digit)
      yield* wait(1_000)
      call.caller.presses("3")
      yield* wait(5_000)
      for (const digit of "42#") call.caller.presses(digit)
      yield* wait(5_000)
      assert.deepStrictEqual(
        call.transcript().filter((line) => line.startsWith("user")),
        ["user: [keypad] 123", "user: [keypad] 42"]
      )
    })
  )
})
