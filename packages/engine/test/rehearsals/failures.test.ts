// What fails in a call, as a failure that its type tells of and as a defect (a provider that throws): who goes with it,
// why the call ends, and that its facts are complete and its leg closed once.
import { assert, describe, it } from "@effect/vitest"
import { Effect, References, Stream } from "effect"
import type { ChatModel } from "@parley/llm/ChatModel"
import { makeScriptedChatModel } from "@parley/llm/testing/ScriptedChatModel"
import { SpeechError } from "@parley/speech/ports/SpeechError"
import type { Synthesizer } from "@parley/speech/ports/Synthesizer"
import type { Transcriber } from "@parley/speech/ports/Transcriber"
import { makeScriptedSynthesizer } from "@parley/speech/testing/ScriptedSynthesizer"
import { makeScriptedTranscriber } from "@parley/speech/testing/ScriptedTranscriber"
import { makeScriptedVoiceActivity } from "@parley/speech/testing/ScriptedVoiceActivity"
import type { EndReason } from "@parley/contract/EndReason"
import type { PlannedTool } from "../../src/CallPlan.ts"
import type { Leg } from "../../src/leg/Leg.ts"
import { type RunTool, ToolFailure } from "../../src/ports/CallParts.ts"
import { type Rehearsal, type RehearsalScript, rehearse } from "../../src/testing/Rehearsal.ts"
import * as VirtualPacer from "../../src/testing/VirtualPacer.ts"
import { during, wait } from "./acting.ts"

/** Defects are logged; the log of a test that makes them on purpose is left empty. */
const quietly = Effect.provideService(References.MinimumLogLevel, "None")

const bug = (): never => {
  throw new Error("a bug")
}

const results = (call: Rehearsal) =>
  call.facts.flatMap((fact) => (fact._tag === "ItemRecorded" && fact.item.type === "tool_result" ? [fact.item] : []))

const faults = (call: Rehearsal) =>
  call.facts.flatMap((fact) => (fact._tag === "Journaled" && fact.entry.kind === "fault" ? [fact.entry.name] : []))

/** The call is over for that reason, told once, with every tool call settled once and the leg closed once. */
const isOver = (call: Rehearsal, reason: EndReason): void => {
  assert.strictEqual(call.ended(), reason)
  isSettled(call, reason)
}

const isSettled = (call: Rehearsal, reason: EndReason): void => {
  const ends = call.facts.flatMap((fact) => (fact._tag === "CallEnded" ? [fact.reason] : []))
  assert.deepStrictEqual(ends, [reason])
  const ids = (type: "tool_call" | "tool_result") =>
    call.facts.flatMap((fact) => (fact._tag === "ItemRecorded" && fact.item.type === type ? [fact.item.call_id] : []))
  assert.deepStrictEqual(ids("tool_result"), ids("tool_call"))
  assert.strictEqual(call.leg.closes(), 1)
  assert.strictEqual(call.leg.closed(), reason)
}

/** The call still answers. */
const lives = Effect.fnUntraced(function* (call: Rehearsal) {
  assert.isUndefined(call.ended())
  const before = call.transcript().length
  call.caller.sends({ type: "user.message", text: "still there?" })
  yield* wait(6_000)
  assert.isAbove(call.transcript().length, before)
  assert.strictEqual(call.leg.closes(), 0)
  assert.isFalse(call.facts.some((fact) => fact._tag === "CallEnded"))
})

const speaks = (call: Rehearsal) => during(Effect.andThen(call.caller.speaks(1_000), call.caller.pauses(2_000)), 6_000)
const types = (call: Rehearsal) =>
  Effect.andThen(
    Effect.sync(() => call.caller.sends({ type: "user.message", text: "hello" })),
    Effect.andThen(wait(3_000), wait(3_000))
  )

/** A call with the fault in it ends by it, and its neighbour on the same tick goes on. */
const endsAlone = (
  script: RehearsalScript,
  act: (call: Rehearsal) => Effect.Effect<unknown, never, never> | ReturnType<typeof speaks>,
  expected: EndReason = "internal_error"
) =>
  Effect.gen(function* () {
    const neighbour = yield* rehearse({})
    const call = yield* rehearse(script)
    yield* act(call)
    isOver(call, expected)
    yield* lives(neighbour)
    return call
  }).pipe(Effect.provide(VirtualPacer.layer), quietly)

const speechError = (reason: "Unavailable" | "Unauthorized" | "InvalidOutput") =>
  new SpeechError({ reason, provider: "scripted", message: "scripted failure" })

/** A good recogniser, but for one method. */
const transcriber = (fault: Partial<Transcriber>): Transcriber => ({
  ...makeScriptedTranscriber({ utterances: ["please help me"] }),
  ...fault
})

const streamWith = (fault: Partial<Record<"push" | "commit", () => never>>): Transcriber => {
  const good = makeScriptedTranscriber({ utterances: ["please help me"] })
  return { ...good, open: (options) => Effect.map(good.open(options), (stream) => ({ ...stream, ...fault })) }
}

const model = (stream: ChatModel["stream"]): RehearsalScript => ({ chat: { provider: "scripted", stream } })

const voice = (synthesize: Synthesizer["synthesize"]): RehearsalScript => ({
  synthesizer: { ...makeScriptedSynthesizer(), synthesize }
})
const audio = { _tag: "Audio", samples: new Int16Array(4_800), sampleRate: 24_000 } as const

const tool = (part: Partial<PlannedTool> = {}): PlannedTool => ({
  spec: { name: "look_up", description: "", parameters: {} },
  source: "webhook",
  mode: "blocking",
  timeoutMs: 5_000,
  errorHandling: "passthrough",
  ...part
})
const using = (runTool: RunTool, part: Partial<PlannedTool> = {}): RehearsalScript => ({
  runTool,
  tools: [tool(part)],
  chat: makeScriptedChatModel(({ messages }) =>
    messages.at(-1)?.content === "hello" ? { tool: { name: "look_up" } } : "All right."
  )
})

const threeTurns = (call: Rehearsal) => Effect.replicateEffect(Effect.andThen(types(call), wait(8_000)), 3)

describe("speech recognition", () => {
  it.effect("that fails and can be tried again costs nothing that was said", () =>
    Effect.gen(function* () {
      const call = yield* rehearse({
        transcriber: makeScriptedTranscriber({
          utterances: [{ text: "never heard", fail: { afterMs: 300, error: speechError("Unavailable") } }, "hello"]
        })
      })
      yield* speaks(call)
      assert.deepStrictEqual(call.transcript(), ["user: hello", "assistant: All right."])
      assert.deepStrictEqual(faults(call), ["asr_stream_lost"])
      yield* lives(call)
    })
  )

  it.effect("that is gone for good ends the call", () =>
    Effect.gen(function* () {
      const refused = transcriber({ open: () => Effect.fail(speechError("Unauthorized")) })
      const call = yield* endsAlone({ transcriber: refused }, () => wait(1_000))
      assert.deepStrictEqual(faults(call), ["asr_gone"])
    })
  )

  it.effect.each([
    ["when it is opened", { transcriber: transcriber({ open: bug }) }],
    ["as an effect", { transcriber: transcriber({ open: () => Effect.die(new Error("a bug")) }) }],
    ["when it is given sound", { transcriber: streamWith({ push: bug }) }],
    ["when an utterance is over", { transcriber: streamWith({ commit: bug }) }],
    [
      "in voice activity",
      {
        transcriber: transcriber({}),
        voiceActivity: { provider: "scripted", open: () => Effect.succeed({ push: bug }) }
      }
    ],
    [
      "while voice activity is opened",
      { transcriber: transcriber({}), voiceActivity: { ...makeScriptedVoiceActivity(), open: bug } }
    ]
  ] as ReadonlyArray<[string, RehearsalScript]>)("that throws %s ends the call", ([, script]) =>
    endsAlone(script, speaks)
  )
})

describe("the language model", () => {
  it.effect("that fails once before its first word is asked again", () =>
    Effect.gen(function* () {
      const call = yield* rehearse({ chat: makeScriptedChatModel([{ fail: "Unavailable" }, "Here I am."]) })
      yield* types(call)
      assert.deepStrictEqual(call.transcript(), ["user: hello", "assistant: Here I am."])
      yield* lives(call)
    })
  )

  it.effect("that fails twice before its first word costs a sentence of ours", () =>
    Effect.gen(function* () {
      const chat = makeScriptedChatModel([{ fail: "Unavailable" }, { fail: "Unavailable" }, "Here I am."])
      const call = yield* rehearse({ chat })
      yield* types(call)
      assert.match(call.transcript().at(-1) ?? "", /say it again/)
      assert.deepStrictEqual(faults(call), ["llm_failed"])
      yield* lives(call)
    })
  )

  it.effect("that fails three turns in a row ends the call after an apology", () =>
    Effect.gen(function* () {
      const script = { chat: makeScriptedChatModel([{ fail: "Unauthorized" }]) }
      const call = yield* endsAlone(script, threeTurns, "llm_endpoint_failure")
      assert.match(call.transcript().at(-1) ?? "", /technical problem/)
    })
  )

  it.effect.each([
    ["when it is asked", model(bug)],
    ["before its first word", model(() => Stream.die(new Error("a bug")))],
    [
      "in the middle of its answer",
      model(() =>
        Stream.concat(Stream.succeed({ _tag: "Text", text: "Well, " } as const), Stream.die(new Error("a bug")))
      )
    ]
  ] as ReadonlyArray<[string, RehearsalScript]>)("that throws %s ends the call", ([, script]) =>
    endsAlone(script, types)
  )
})

describe("the synthesizer", () => {
  it.effect("that fails in the middle of a reply is named, and the call lives", () =>
    Effect.gen(function* () {
      const synthesizer = makeScriptedSynthesizer({
        perRequest: (_, index) =>
          index === 0 ? { fail: { afterAudioMs: 200, error: speechError("InvalidOutput") } } : undefined
      })
      const call = yield* rehearse({ synthesizer, chat: makeScriptedChatModel(["One two three four.", "Five."]) })
      yield* types(call)
      assert.deepStrictEqual(
        faults(call).filter((name) => name !== "playout_starved"),
        ["tts_failed"]
      )
      assert.notMatch(call.transcript().join(), /four/)
      yield* lives(call)
    })
  )

  it.effect.each([
    ["when it is asked", voice(bug)],
    ["as a stream", voice(() => Stream.die(new Error("a bug")))],
    ["in the middle of a reply", voice(() => Stream.concat(Stream.succeed(audio), Stream.die(new Error("a bug"))))]
  ] as ReadonlyArray<[string, RehearsalScript]>)("that throws %s ends the call", ([, script]) =>
    endsAlone(script, types)
  )
})

describe("a tool", () => {
  it.effect("that fails is told to the model, and the call lives", () =>
    Effect.gen(function* () {
      const call = yield* rehearse(using(() => Effect.fail(new ToolFailure({ message: "broken pipe" }))))
      yield* types(call)
      assert.deepInclude(results(call)[0], { status: "failed", error: "broken pipe" })
      yield* lives(call)
    })
  )

  for (const [how, hung] of [
    ["hangs", Effect.never],
    ["hangs and cannot be stopped", Effect.uninterruptible(Effect.as(Effect.sleep(90_000), "late"))]
  ] as const) {
    it.effect(`that ${how} is given up after its time-out, and the call lives`, () =>
      Effect.gen(function* () {
        const call = yield* rehearse(using(() => hung))
        yield* types(call)
        yield* wait(6_000)
        assert.deepInclude(results(call)[0], { status: "failed", error: "the tool did not answer in time" })
        assert.strictEqual(results(call).length, 1)
        yield* lives(call)
        yield* wait(90_000)
      })
    )

    it.effect(`that ${how} does not hold up the end of the call`, () =>
      Effect.gen(function* () {
        const call = yield* rehearse(using(() => hung, { timeoutMs: 60_000 }))
        yield* types(call)
        call.caller.leaves()
        yield* wait(15_000)
        isOver(call, "user_hangup")
        assert.deepInclude(results(call)[0], { status: "failed", error: "cancelled: the call ended" })
        yield* wait(90_000)
      })
    )
  }

  for (const mode of ["blocking", "background", "fire_and_forget"] as const) {
    it.effect.each([
      ["when it is asked", bug],
      ["as an effect", () => Effect.die(new Error("a bug"))],
      ["after a while", () => Effect.andThen(Effect.sleep(1_000), Effect.die(new Error("a bug")))]
    ] as ReadonlyArray<[string, RunTool]>)(
      `of mode ${mode} that throws %s has a result, and ends the call`,
      ([, run]) =>
        Effect.gen(function* () {
          const call = yield* endsAlone(using(run, { mode }), types)
          assert.deepInclude(results(call)[0], { status: "failed", error: "the tool broke down" })
        })
    )
  }
})

describe("the leg", () => {
  it.effect.each([
    ["left", "user_hangup"],
    ["lost", "heartbeat_timeout"],
    ["failed", "internal_error"]
  ] as const)("that is %s ends the call as %s", ([how, reason]) =>
    endsAlone(
      {},
      (call) =>
        Effect.andThen(
          Effect.sync(() => call.caller.leaves(how)),
          wait(100)
        ),
      reason
    )
  )

  it.effect.each([
    ["attach", "internal_error"],
    ["play", "internal_error"],
    ["tell", "internal_error"]
  ] as ReadonlyArray<[keyof Leg, EndReason]>)("whose %s throws ends the call as %s", ([method, reason]) =>
    endsAlone({ leg: (leg) => ({ ...leg, [method]: bug }) }, types, reason)
  )

  it.effect("whose close throws has ended all the same", () =>
    Effect.gen(function* () {
      let closes = 0
      const close = (): never => {
        closes++
        return bug()
      }
      const call = yield* rehearse({ leg: (leg) => ({ ...leg, close }) })
      yield* types(call)
      call.caller.leaves()
      yield* wait(100)
      assert.strictEqual(call.ended(), "user_hangup")
      assert.strictEqual(call.facts.filter((fact) => fact._tag === "CallEnded").length, 1)
      assert.strictEqual(closes, 1)
    }).pipe(quietly)
  )

  it.effect("of a call that is interrupted is closed, and the call has ended as internal_error", () =>
    Effect.gen(function* () {
      const call = yield* rehearse({})
      yield* types(call)
      yield* call.interrupt
      isSettled(call, "internal_error")
    })
  )

  it.effect("of a call that is interrupted before it has begun is closed, too", () =>
    Effect.gen(function* () {
      const call = yield* rehearse({ openTools: () => Effect.never })
      yield* wait(100)
      yield* call.interrupt
      isSettled(call, "internal_error")
    })
  )
})

describe("what is opened for the call", () => {
  it.effect("ends it when it throws: its tools, its model", () =>
    Effect.gen(function* () {
      yield* endsAlone({ openTools: () => Effect.die(new Error("a bug")) }, () => wait(100))
      yield* endsAlone({ openTools: bug }, () => wait(100))
    })
  )
})
