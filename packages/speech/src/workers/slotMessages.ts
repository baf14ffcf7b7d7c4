// The messages between `WorkerSlots` and a thread that calls `serveSlots`.

/** The first message of the thread: questions are taken. */
export const slotsReady = "ready"

/** Without a question: the slot's owner left. */
export type SlotMessage =
  | { readonly slot: number; readonly call: number; readonly question: unknown }
  | { readonly slot: number }

/** `threw`: the handler did. */
export type SlotAnswer<Answer> =
  | { readonly call: number; readonly answer: Answer }
  | { readonly call: number; readonly threw: true }
