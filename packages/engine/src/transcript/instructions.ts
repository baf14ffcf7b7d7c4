// What stands before the conversation: the instructions, and what the agent knows by heart. Documents are no instructions.
import type { ChatMessage } from "@parley/llm/ChatModel"
import type { CallPlan } from "../CallPlan.ts"

/** The first messages of every request to the model. */
export const instructions = ({ documents = "", system }: CallPlan["prompt"]): ReadonlyArray<ChatMessage> => [
  { role: "system", content: system },
  ...(documents === "" ? [] : [{ role: "user", content: documents } as const])
]
