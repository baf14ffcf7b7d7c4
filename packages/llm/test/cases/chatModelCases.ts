// What every model behind the `ChatModel` port promises. An adapter hands in makers for the answers it can be made to
// give; a case it cannot meet is named with its reason.
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import type { Scope } from "effect"
import type { ChatDelta, ChatErrorReason, ChatModel, ChatRequest, ToolSpec } from "../../src/ChatModel.ts"

type CaseName = "tool" | "failure" | "cutOff" | "empty" | "slow"

export interface ChatModelUnderTest {
  readonly model: ChatModel
  /** Requests that reached the model; left out where nobody can tell. */
  readonly asked?: () => number
  /** Of these, those that were given up before their end. */
  readonly cancelled?: () => number
}

type Make = Effect.Effect<ChatModelUnderTest, never, Scope.Scope>

export interface ChatModelMakers {
  /** Answers `ask` with some words. */
  readonly answering: Make
  /** Calls the tool `book_appointment` of `ask` with a JSON object. */
  readonly calling?: Make
  /** Fails before its first word, for each reason it tells apart. */
  readonly failing?: ReadonlyArray<readonly [ChatErrorReason, Make]>
  /** Breaks off after some words. */
  readonly cutOff?: Make
  /** Ends without a word or a call. */
  readonly empty?: Make
  /** Takes seconds to answer. */
  readonly slow?: Make
}

const book: ToolSpec = {
  name: "book_appointment",
  description: "Books an appointment.",
  parameters: { type: "object", properties: { day: { type: "string" }, name: { type: "string" } } }
}

/** A conversation that a booking would follow from. */
const ask: ChatRequest = {
  messages: [
    { role: "system", content: "You are a receptionist." },
    { role: "user", content: "book me for tuesday at nine" },
    { role: "assistant", content: "May I have your name?" },
    { role: "user", content: "i am mary" },
    { role: "assistant", content: "Tuesday at 9 for Mary. Shall I book it?" },
    { role: "user", content: "yes" }
  ],
  tools: [],
  extra: {}
}

const textOf = (deltas: Iterable<ChatDelta>): string =>
  [...deltas].map((delta) => (delta._tag === "Text" ? delta.text : "")).join("")

/** What came before the end, and the failure it ended by. */
const listen = ({ stream }: ChatModel, request: ChatRequest = ask) =>
  Effect.gen(function* () {
    const deltas: Array<ChatDelta> = []
    const exit = yield* Effect.result(
      Stream.runForEach(stream(request), (delta) => Effect.sync(() => deltas.push(delta)))
    )
    return { deltas, error: exit._tag === "Failure" ? exit.failure : undefined }
  })

export const chatModelCases = (
  name: string,
  makers: ChatModelMakers,
  skips: Partial<Record<CaseName, string>> = {}
): void => {
  const caseOf = <A>(
    id: CaseName,
    title: string,
    make: A | undefined,
    body: (make: A) => Effect.Effect<void, unknown, Scope.Scope>
  ): void => {
    // Said beside the adapter, and no skipped test: a run of the CI fails on those.
    if (skips[id] !== undefined) return undefined
    if (make === undefined) throw new Error(`${name}: nothing to test "${id}" with, and no reason`)
    it.live(title, () => body(make))
  }

  describe(`chat model port: ${name}`, () => {
    it.live("answers in text, whose pieces joined are the answer", () =>
      Effect.gen(function* () {
        const { model } = yield* makers.answering
        expect(model.provider).not.toBe("")
        const { deltas, error } = yield* listen(model)
        expect(error).toBeUndefined()
        expect(textOf(deltas).trim()).not.toBe("")
        expect(deltas.every((delta) => delta._tag !== "Text" || delta.text !== "")).toBe(true)
      })
    )

    it.live("answers several requests at once, and one stream run again", () =>
      Effect.gen(function* () {
        const { model } = yield* makers.answering
        const answers = yield* Effect.all([listen(model), listen(model), listen(model)], { concurrency: 3 })
        for (const { deltas, error } of answers) expect([textOf(deltas) !== "", error]).toEqual([true, undefined])
        const stream = model.stream(ask)
        const twice = [yield* Stream.runCollect(stream), yield* Stream.runCollect(stream)]
        for (const deltas of twice) expect(textOf(deltas)).not.toBe("")
      })
    )

    it.live("asks for nothing before its stream is run", () =>
      Effect.gen(function* () {
        const { asked, model } = yield* makers.answering
        const stream = model.stream(ask)
        expect(asked?.() ?? 0).toBe(0)
        yield* Stream.runDrain(stream)
        expect(asked?.() ?? 1).toBe(1)
      })
    )

    caseOf("tool", "gives a tool call whole, with an id and JSON", makers.calling, (make) =>
      Effect.gen(function* () {
        const { model } = yield* make
        const { deltas, error } = yield* listen(model, { ...ask, tools: [book] })
        expect(error).toBeUndefined()
        const calls = deltas.flatMap((delta) => (delta._tag === "ToolCall" ? [delta.call] : []))
        expect(calls).toHaveLength(1)
        expect(calls[0]?.name).toBe(book.name)
        expect(calls[0]?.id).not.toBe("")
        expect(typeof JSON.parse(calls[0]?.arguments ?? "")).toBe("object")
      })
    )

    caseOf("failure", "fails with a reason that says whether to try again, and names itself", makers.failing, (makes) =>
      Effect.gen(function* () {
        for (const [reason, make] of makes) {
          const { model } = yield* make
          const { deltas, error } = yield* listen(model)
          expect(deltas).toEqual([])
          expect(error?.reason).toBe(reason)
          expect(error?.isRetryable).toBe(["Unavailable", "Timeout", "Overloaded"].includes(reason))
          expect(error?.provider).not.toBe("")
        }
      })
    )

    caseOf("cutOff", "gives what came before it broke off, then fails", makers.cutOff, (make) =>
      Effect.gen(function* () {
        const { deltas, error } = yield* listen((yield* make).model)
        expect(textOf(deltas)).not.toBe("")
        expect(error?.reason).toBe("Unavailable")
      })
    )

    caseOf("empty", "fails with InvalidOutput when there is neither text nor a call", makers.empty, (make) =>
      Effect.gen(function* () {
        const { error } = yield* listen((yield* make).model)
        expect(error?.reason).toBe("InvalidOutput")
        expect(error?.isRetryable).toBe(false)
      })
    )

    caseOf("slow", "is cancelled when it is interrupted, and answers the next one", makers.slow, (make) =>
      Effect.gen(function* () {
        const { cancelled, model } = yield* make
        const fiber = yield* Effect.forkChild(Stream.runDrain(model.stream(ask)))
        yield* Effect.sleep(150)
        yield* Fiber.interrupt(fiber)
        if (cancelled !== undefined) {
          // The other end of a connection is told a moment later.
          yield* Effect.repeat(Effect.sleep(10), { times: 100, until: () => cancelled() > 0 })
          expect(cancelled()).toBe(1)
        }
        const again = yield* Effect.forkChild(Stream.runDrain(model.stream(ask)))
        yield* Effect.sleep(50)
        yield* Fiber.interrupt(again)
      })
    )
  })
}
