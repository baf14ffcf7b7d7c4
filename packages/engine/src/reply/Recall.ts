// What the agent's documents say to the caller's words: asked once for the same words, however many replies are begun
// on them, and never waited for longer than `boxMs`. Found too late or not at all, the turn goes on without.
import { Cause, Deferred, Effect, type Scope } from "effect"
import type { ChatMessage } from "@parley/llm/ChatModel"
import type { CallPlan } from "../CallPlan.ts"
import type { Journal } from "../journal/Journal.ts"
import type { Passage, Retrieve } from "../ports/CallParts.ts"
import { cannotFail, forkSupervised, type OnDefect } from "../supervise.ts"
import { quoted } from "../transcript/quoted.ts"

/** Most of it passes while the turn's end is still being waited for. */
const boxMs = 300

/** Whose documents, and who searches them. */
export interface RecallOptions {
  readonly plan: CallPlan
  readonly retrieve: Retrieve | undefined
  /** The call's: a search outlives the speculative reply that began it. */
  readonly scope: Scope.Scope
  readonly now: () => number
  readonly journal: Pick<Journal, "note" | "fault">
  readonly onDefect: OnDefect
}

/** For the one reply that asks; not part of what was said. */
export type Recall = (text: string) => Effect.Effect<ReadonlyArray<ChatMessage>>

type Found = ReadonlyArray<Passage>

/** Finds nothing in a plan without documents, and where nobody can be asked. */
export const make = ({ journal, now, onDefect, plan, retrieve, scope }: RecallOptions): Recall => {
  if (retrieve === undefined || plan.knowledge === undefined || plan.knowledge.length === 0) {
    return () => Effect.succeed([])
  }

  const begin = Effect.fnUntraced(function* (text: string, found: Deferred.Deferred<Found>) {
    const began = now()
    const settle = (passages: Found): boolean => Deferred.doneUnsafe(found, Effect.succeed(passages))
    const search = Effect.suspend(() => retrieve(plan, text)).pipe(
      Effect.map((passages) => {
        if (!settle(passages)) return
        journal.note("knowledge_retrieved", {
          took_ms: Math.round(now() - began),
          passages: passages.map(({ text: content, title }) => ({ title, length: content.length, text: content }))
        })
      }),
      Effect.tapCause((cause) =>
        Cause.hasDies(cause) ? Effect.logError("a search of documents broke", cause) : Effect.void
      )
    )
    const failed = (): void => {
      if (settle([])) journal.fault("knowledge_failed", {})
    }
    // Documents are another room's: what breaks there costs this turn its passages, and the call goes on.
    const asked = yield* forkSupervised(scope, search, { child: "Recall", onFailure: failed, onDefect: failed })
    const bound = Effect.map(Effect.sleep(boxMs), () => {
      if (!settle([])) return
      journal.fault("knowledge_overdue", { box_ms: boxMs })
      // Not waited for either: it may take as long to stop.
      asked.interruptUnsafe()
    })
    yield* forkSupervised(scope, bound, { child: "Recall", onFailure: cannotFail, onDefect })
  })

  let last: { readonly text: string; readonly found: Deferred.Deferred<Found> } | null = null
  return Effect.fnUntraced(function* (text: string) {
    if (last?.text !== text) {
      last = { text, found: Deferred.makeUnsafe() }
      yield* Effect.uninterruptible(begin(text, last.found))
    }
    return messagesOf(yield* Deferred.await(last.found))
  })
}

const messagesOf = (passages: ReadonlyArray<Passage>): ReadonlyArray<ChatMessage> =>
  passages.length === 0
    ? []
    : [
        {
          role: "user",
          content: quoted(
            "passages",
            "Passages of your documents that may help with what the caller says next. Answer from them; when they do not hold the answer, do not make one up.",
            passages.map(({ text, title }, i) => `[${i + 1}] ${title}\n${text}`).join("\n\n")
          )
        }
      ]

/** What was found stands before the words it was found for. */
export const placed = (
  history: ReadonlyArray<ChatMessage>,
  found: ReadonlyArray<ChatMessage>
): ReadonlyArray<ChatMessage> => {
  const at = history.findLastIndex((message) => message.role === "user")
  return found.length === 0 || at < 0 ? [...history, ...found] : history.toSpliced(at, 0, ...found)
}
