// A conversation in writing: given turns, the same prompt, memory, documents and tools as a call, no sound and no clock
// of turns. Every tool is waited for. Ends after the last turn, or with the answer that hangs up.
import { Clock, Effect, type Scope } from "effect"
import type { Fact } from "@parley/contract/Fact"
import type { ChatError, ChatModel } from "@parley/llm/ChatModel"
import type { CallPlan } from "./CallPlan.ts"
import { Memory, type MemoryEntry } from "./Memory.ts"
import type { Retrieve, RunTool } from "./ports/CallParts.ts"
import { answer, openingOf, recite, type ReplyText } from "./reply/Answer.ts"
import * as Recall from "./reply/Recall.ts"
import * as ToolRunner from "./tools/ToolRunner.ts"

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

/** Fails when the model does. */
export const converse = Effect.fnUntraced(function* ({
  chat,
  plan: given,
  remember,
  retrieve,
  runTool,
  turns
}: TextCallOptions): Effect.fn.Return<{ readonly hungUp: boolean }, ChatError, Scope.Scope> {
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const plan: CallPlan = { ...given, tools: given.tools.map((tool) => ({ ...tool, mode: written(tool) })) }
  const now = (): number => clock.currentTimeMillisUnsafe()
  const isoNow = (): string => new Date(now()).toISOString()
  const memory = new Memory()
  const recall = Recall.make({ plan, retrieve, scope, now, onNote: nobody, onFault: nobody })
  const tools = yield* ToolRunner.make({
    plan,
    scope,
    outliving: scope,
    run: runTool,
    withoutApp: true,
    now,
    isoNow,
    remember,
    emit: nobody,
    onNews: nobody
  })
  let segments = 0
  let hungUp = false

  const message = (id: string, role: "user" | "assistant", content: string, turnId: string): void =>
    remember({
      _tag: "ItemRecorded",
      item: { type: "message", id, role, content, turn_id: turnId, created_at: isoNow() }
    })

  const reply = Effect.fnUntraced(function* (turnId: string, text: ReplyText) {
    const entries: Array<MemoryEntry> = []
    const writing = {
      id: 0,
      plan,
      turnId,
      chat,
      runTool: tools.call,
      onOwnTool: tools.used,
      now,
      newSegment: () => `msg_${plan.sessionId}_${++segments}`,
      tell: ({ _tag }: { readonly _tag: string }) => void (hungUp ||= _tag === "HangUpDecided"),
      onFault: nobody,
      entries,
      marks: { firstWord: null },
      offer: () => Effect.void,
      committed: Effect.void
    }
    yield* text.kind === "say" ? recite(writing, text.text) : answer(writing, text)
    memory.adopt(entries)
    for (const entry of entries) {
      if (entry.kind === "agent" && entry.text.trim() !== "") message(entry.segment, "assistant", entry.text, turnId)
    }
  })

  const system = { role: "system", content: plan.prompt.system } as const
  if (plan.prompt.firstMessage.mode !== "off") yield* reply("opening", openingOf(plan.prompt))
  for (const [index, text] of turns.entries()) {
    if (hungUp) break
    const turn = `turn_${index + 1}`
    memory.caller(turn, text)
    message(`msg_${plan.sessionId}_${turn}`, "user", text, turn)
    const before = memory.messages()
    yield* reply(turn, { kind: "answer", history: () => [system, ...before], recalled: recall(text) })
  }
  return { hungUp }
}, Effect.scoped)

/** Webhooks are waited for; an app that is not to respond has nothing to say. */
const written = ({ mode, source }: CallPlan["tools"][number]): CallPlan["tools"][number]["mode"] =>
  source === "client" && mode === "fire_and_forget" ? mode : "blocking"
