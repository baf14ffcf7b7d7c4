// A conversation in writing: given turns, the same prompt, memory, documents and tools as a call, no sound and no
// turn-taking in time. Every tool is waited for. Ends after the last turn, or with the answer that hangs up.
import { Deferred, Effect, type Scope } from "effect"
import type { Fact } from "@parley/contract/Fact"
import type { ChatError, ChatModel } from "@parley/llm/ChatModel"
import type { CallPlan } from "./CallPlan.ts"
import type { Retrieve, RunTool } from "./ports/CallParts.ts"
import { answer, openingOf, recite, type ReplyText, type Writing } from "./reply/Answer.ts"
import * as Recall from "./reply/Recall.ts"
import type { OnDefect } from "./supervise.ts"
import * as CallClock from "./time/CallClock.ts"
import * as ToolRunner from "./tools/ToolRunner.ts"
import type { MemoryEntry } from "./transcript/Memory.ts"
import * as Transcript from "./transcript/Transcript.ts"
import { instructions } from "./transcript/instructions.ts"

/** What such a conversation needs; nothing of it is sound. */
export interface TextCallOptions {
  readonly plan: CallPlan
  readonly chat: ChatModel
  /** For tools of the client's app, too: there is no app. */
  readonly runTool: RunTool
  readonly retrieve?: Retrieve | undefined
  /** What the user says, one after another. */
  readonly turns: ReadonlyArray<string>
  /** Items of the transcript, as they come; must not throw. */
  readonly remember: (fact: Fact) => void
}

const nobody = (): void => undefined

/** Fails when the model does; dies of a defect in a tool. */
export const converse = Effect.fnUntraced(function* ({
  chat,
  plan: given,
  remember,
  retrieve,
  runTool,
  turns
}: TextCallOptions): Effect.fn.Return<{ readonly hungUp: boolean }, ChatError, Scope.Scope> {
  const scope = yield* Effect.scope
  const clock = yield* CallClock.make
  const plan: CallPlan = { ...given, tools: given.tools.map((tool) => ({ ...tool, mode: written(tool) })) }
  const fatal = yield* Deferred.make<never>()
  const onDefect: OnDefect = (cause) => void Deferred.doneUnsafe(fatal, Effect.failCause(cause))
  const transcript = Transcript.make({ sessionId: plan.sessionId, remember, iso: clock.iso })
  const journal = { note: nobody, fault: nobody }
  const recall = Recall.make({ plan, retrieve, scope, now: clock.now, journal, onDefect })
  const tools = yield* ToolRunner.make({
    call: { plan, scope, clock, remember, onDefect },
    outliving: scope,
    run: runTool,
    withoutApp: true,
    emit: nobody,
    onNews: nobody
  })
  let hungUp = false

  const reply = Effect.fnUntraced(function* (turnId: string, text: ReplyText) {
    const entries: Array<MemoryEntry> = []
    const writing: Writing = {
      plan,
      turnId,
      chat,
      tools,
      newSegment: transcript.newSegment,
      draft: { entries, onWord: nobody, offer: () => Effect.void, committed: Effect.void },
      onHangUp: () => void (hungUp = true),
      onFault: nobody
    }
    yield* text.kind === "say" ? recite(writing, text.text) : answer(writing, text)
    transcript.adopt(entries)
    for (const entry of entries) {
      if (entry.kind !== "agent" || entry.text.trim() === "") continue
      transcript.agent({ segment: entry.segment, text: entry.text, turnId })
    }
  })

  const talk = Effect.gen(function* () {
    if (plan.prompt.firstMessage.mode !== "off") yield* reply("opening", openingOf(plan.prompt))
    for (const [index, text] of turns.entries()) {
      if (hungUp) break
      const turn = `turn_${index + 1}`
      transcript.caller(turn, text)
      const before = transcript.messages()
      yield* reply(turn, {
        kind: "answer",
        history: () => [...instructions(plan.prompt), ...before],
        recalled: recall(text)
      })
    }
    return { hungUp }
  })
  return yield* Effect.raceFirst(talk, Deferred.await(fatal))
}, Effect.scoped)

/** Webhooks are waited for; an app that is not to respond has nothing to say. */
const written = ({ mode, source }: CallPlan["tools"][number]): CallPlan["tools"][number]["mode"] =>
  source === "client" && mode === "fire_and_forget" ? mode : "blocking"
