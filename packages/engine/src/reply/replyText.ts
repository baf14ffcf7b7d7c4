// What a reply is to say, by its cause: a sentence of ours, or the model's answer to the conversation so far.
import type { CallContext } from "../CallContext.ts"
import type { CallParts } from "../ports/CallParts.ts"
import type { Transcript } from "../transcript/Transcript.ts"
import type { ReplyCause } from "../turn/Move.ts"
import { openingOf, type ReplyText } from "./Answer.ts"
import { lineIn } from "./lines.ts"
import { instructions } from "../transcript/instructions.ts"
import * as Recall from "./Recall.ts"

/** For one call. `early`: the turn to be answered is not recorded yet. */
export const textsOf = (
  call: CallContext,
  transcript: Transcript,
  retrieve: CallParts["Service"]["retrieve"]
): ((cause: ReplyCause, early: boolean) => ReplyText) => {
  const { clock, journal, onDefect, plan, scope } = call
  const recall = Recall.make({ plan, retrieve, scope, now: clock.now, journal, onDefect })
  const before = instructions(plan.prompt)
  return (cause, early) => {
    switch (cause.kind) {
      case "line":
        return { kind: "say", text: lineIn(plan.voice.language, cause.line) }
      case "opening":
        return openingOf(plan.prompt)
      case "turn": {
        const asked = { role: "user", content: cause.text } as const
        const said = early ? [...transcript.messages(cause.turn), asked] : transcript.messages()
        return { kind: "answer", history: () => [...before, ...said], recalled: recall(cause.text) }
      }
      case "voicemail": {
        const { voicemail } = plan.conversation
        if (voicemail?.action !== "leave_prompt_message") return { kind: "say", text: voicemail?.message ?? "" }
        const told = `[An answering machine took the call. Leave one message after its beep; nobody will answer. ${voicemail.message}]`
        return { kind: "answer", history: () => [...before, ...transcript.messages(), { role: "user", content: told }] }
      }
      case "news": {
        const said = transcript.messages()
        return { kind: "answer", history: () => [...before, ...said] }
      }
    }
  }
}
